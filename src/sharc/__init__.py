"""Reproducibility pipeline for Saliency-Guided Hidden Associative Replay (SHARC)."""

from sharc.steady import steady_products

steady_products()
