"""Reproducibility pipeline for Saliency-Guided Hidden Associative Replay (SHARC)."""

from typing import Any

from sharc.steady import steady_products

steady_products()


def __getattr__(name: str) -> Any:
    """Look up what not every command needs, when it is asked for."""
    if name == "__version__":
        from importlib.metadata import version

        return version("sharc")
    raise AttributeError(f"module 'sharc' has no attribute {name!r}")
