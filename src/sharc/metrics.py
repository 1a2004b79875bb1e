"""Accuracy, backward transfer, forgetting and learning curves from an accuracy matrix.

R[t, i] is the accuracy on task i after training task t, in percent; NaN where it was not
measured (above the diagonal, and all but the last row of joint training).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def acc(accuracy: Matrix) -> float:
    """ACC: mean over tasks of the accuracy after the last task."""
    return float(np.mean(_square(accuracy)[-1]))


def backward_transfer(accuracy: Matrix, untrained: Sequence[float] | None = None) -> float | None:
    """BWT = mean over i < T of R[T, i] - R[i, i] (Lopez-Paz & Ranzato 2017, Eq. 3).

    None if R[i, i] was not measured, as for joint training, which has no backward transfer. The
    paper's column for it takes the accuracy of an untrained network as R[i, i]: pass that as
    `untrained`, one value per task, to reproduce it. None for a single task as well.
    """
    matrix = _square(accuracy)
    own = np.diag(matrix)[:-1]
    if untrained is not None:
        own = np.where(np.isnan(own), np.asarray(untrained, dtype=float)[:-1], own)
    if len(own) == 0 or np.isnan(own).any():
        return None
    return float(np.mean(matrix[-1, :-1] - own))


def forgetting(accuracy: Matrix) -> float | None:
    """Mean over i < T of the best R[t, i] before the last task, minus R[T, i].

    Chaudhry et al. 2018; None where nothing was measured before the last task.
    """
    matrix = _square(accuracy)
    past = matrix[:-1, :-1]
    if past.size == 0 or np.isnan(past).all(axis=0).any():
        return None
    return float(np.mean(np.nanmax(past, axis=0) - matrix[-1, :-1]))


def learning_curve(accuracy: Matrix) -> list[float | None]:
    """After each task t, the mean accuracy on the tasks seen so far; None where not measured."""
    matrix = _square(accuracy)
    means = [np.mean(row[: t + 1]) for t, row in enumerate(matrix)]
    return [None if np.isnan(mean) else float(mean) for mean in means]


def _square(accuracy: Matrix) -> Matrix:
    matrix = np.asarray(accuracy, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"an accuracy matrix is square and not empty, got {matrix.shape}")
    return matrix
