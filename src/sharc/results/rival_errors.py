"""Errors of Figure 1's two rivals where much of the image is lost, for caption and claim."""

from typing import Any

import numpy as np

RIVALS = ("hopfield", "inpainter")
Errors = dict[str, list[float]]


def hard_errors(rows: list[Any], level: float, *, stored: bool) -> Errors:
    """Rival -> mean squared errors at corruptions of at least `level`."""
    hard = [row for row in rows if row["stored"] is stored and row["level"] >= level]
    return {rival: [row[rival]["mse"] for row in hard] for rival in RIVALS}


def means(errors: Errors) -> str:
    """`memory < 0.0001, inpainter 0.0214`."""
    memory, inpainter = (number(float(np.mean(errors[rival]))) for rival in RIVALS)
    return f"memory {memory}, inpainter {inpainter}"


def number(error: float) -> str:
    """Four digits; what rounds to nothing is said to be small, not zero."""
    return f"{error:.4f}" if error >= 0.0001 else "< 0.0001"
