"""Accuracy of stacked heads on the tasks' test sets, in both scenarios from the same logits."""

from collections.abc import Sequence

import torch
from torch import Tensor

from sharc.engine.device import at_once
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream


def correct(logits: Tensor, labels: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
    """How many rows of one task are right: Class-IL over all classes, Task-IL over its own.

    logits: [..., n, C]; classes: [c], the task's. Masking the other classes with -inf and taking
    the largest of the task's own is the same thing. The maximum is taken across rows of n, which
    is the fast way where logits lie class-major; argmax would take five times as long.
    """
    by_class = logits.mT
    own = by_class.index_select(-2, classes)
    class_il = by_class.max(dim=-2).indices == labels
    task_il = classes[own.max(dim=-2).indices] == labels
    return class_il.sum(dim=-1), task_il.sum(dim=-1)


def evaluate(
    stream: TaskStream, head: Head, tasks: int, runs: Sequence[RunSpec], trained: int
) -> Tensor:
    """Percent right on each of the first `tasks` tasks: [2, S, tasks], Class-IL then Task-IL."""
    features = [stream.test_of(run.seed, trained) for run in runs]
    common = stream.drifting is None  # not how many runs there are: a lone one rounds alike
    device = stream.test_x.device
    rows = at_once(device).test_rows
    counts = torch.zeros(2, head.n_runs, tasks, dtype=torch.float64, device=device)
    for task in range(tasks):
        classes = torch.tensor(stream.classes[task], device=device)
        for index in stream.test_tasks[task].split(rows):
            if common:
                logits = head.logits_of_same(features[0].index_select(0, index))
            else:
                logits = head.logits(torch.stack([x[index] for x in features]))
            right = correct(logits, stream.test_y[index], classes)
            counts[:, :, task] += torch.stack(right)
        counts[:, :, task] *= 100 / len(stream.test_tasks[task])
    return counts.to("cpu")
