"""ACC and BWT from accuracies that another library logged task by task."""

import math
from collections.abc import Mapping

import numpy as np

from sharc import metrics
from sharc.errors import UserError


def scores(where: str, accuracy: Mapping[tuple[int, int], float]) -> tuple[float, float]:
    """ACC and BWT in percent from {(after task t, on task i): accuracy}, tasks counted from 1."""
    tasks = max(t for t, _ in accuracy)
    matrix = np.full((tasks, tasks), math.nan)
    for (t, i), value in accuracy.items():
        if 1 <= i <= tasks and t >= 1:
            matrix[t - 1, i - 1] = value
    if absent := [i + 1 for i in range(tasks) if math.isnan(matrix[-1, i])]:
        raise UserError(
            f"{where}: after the last task, {tasks}, there is no accuracy on task "
            f"{', '.join(map(str, absent))}: the run was not finished."
        )
    bwt = metrics.backward_transfer(matrix)
    return metrics.acc(matrix), math.nan if bwt is None else bwt
