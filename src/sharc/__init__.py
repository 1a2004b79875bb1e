"""Reproducibility pipeline for Saliency-Guided Hidden Associative Replay (SHARC)."""
