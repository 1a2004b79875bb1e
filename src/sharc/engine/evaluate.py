"""Accuracy of stacked heads on the tasks' test sets, in both scenarios from the same logits."""

from collections.abc import Sequence

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.stream import Stream

CHUNK = 4096  # test rows at a time, so that logits stay in cache


def correct(logits: Tensor, labels: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
    """How many rows of one task are right: Class-IL over all classes, Task-IL over its own.

    logits: [n, C]; classes: [c], the task's. Masking the other classes with -inf and taking the
    largest of the task's own is the same thing.
    """
    class_il = (logits.argmax(dim=1) == labels).sum()
    task_il = (classes[logits[:, classes].argmax(dim=1)] == labels).sum()
    return class_il, task_il


def evaluate(
    stream: Stream, head: Head, tasks: int, runs: Sequence[RunSpec], trained: int
) -> Tensor:
    """Percent right on each of the first `tasks` tasks: [2, S, tasks], Class-IL then Task-IL."""
    features = [stream.test_of(run.seed, trained) for run in runs]
    counts = torch.zeros(2, head.n_runs, tasks, dtype=torch.float64, device=stream.test_x.device)
    for task in range(tasks):
        classes = torch.tensor(stream.classes[task], device=counts.device)
        for index in stream.test_tasks[task].split(CHUNK):
            x, y = features[0][index], stream.test_y[index]
            for run in range(head.n_runs):
                if features[run] is not features[0]:
                    x = features[run][index]
                logits = torch.addmm(head.b[run], x, head.weight[run].T)
                class_il, task_il = correct(logits, y, classes)
                counts[0, run, task] += class_il
                counts[1, run, task] += task_il
        counts[:, :, task] *= 100 / len(stream.test_tasks[task])
    return counts.to("cpu")
