"""A task's stored examples, and the groups of them that a memory recalls together."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from sharc.buffers.recall_error import RecallProbe
from sharc.memories.base import Cue, Recalled
from sharc.memories.cues import gathered, segments

SHARED = 0.75  # least share of an example's channels that its group has in common
N_PROBE = 2  # examples per group by which the recall error in map space is measured


@dataclass(frozen=True)
class StoredExamples:
    """n examples of a task: their slots, training indices, classes, masks, and when seen."""

    slots: Tensor  # [n]
    index: Tensor  # [n]
    labels: Tensor  # [n]
    kept: Tensor  # [n, K] bool
    position: Tensor  # [n] in the task's order

    def subset(self, rows: Tensor) -> "StoredExamples":
        """Some of the examples."""
        return StoredExamples(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class Group:
    """Examples of one class that share most of their kept channels."""

    task: int
    slots: Tensor
    cue: Cue
    probe: RecallProbe


def grouped(
    task: int, examples: StoredExamples, maps: Tensor, write_index: Tensor
) -> Iterator[Group]:
    """One group per class, or several where masks drifted apart while the class was seen.

    maps: [n, H·W, K], whole; write_index: [n], when the memory was given each of them.
    """
    for label in examples.labels.unique().tolist():
        of_class = (examples.labels == label).nonzero().squeeze(1)
        for segment in segments(examples.kept[of_class], SHARED):
            rows = of_class[segment]
            part = examples.subset(rows)
            cue = gathered(maps[rows], part.kept, part.labels, write_index[rows])
            yield Group(task, part.slots, cue, RecallProbe.of(maps[rows], cue, N_PROBE))


def fill(answers: list[tuple[Group, Recalled]], x: Tensor, slices: list[slice]) -> None:
    """Put recalled channels where x [M, K] has none; what was kept stays as it is."""
    for group, recalled in answers:
        target = x[slices[group.task]]
        kept = group.cue.kept
        target[group.slots] = torch.where(kept, target[group.slots], recalled.pooled.to(x))
