"""Frozen backbones: each turns normalised images into maps K×H×W."""
