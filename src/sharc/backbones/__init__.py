"""Frozen backbones: each gives a map K×H×W of a normalised image batch."""
