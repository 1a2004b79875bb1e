"""How well a memory recalls: its error, compared with filling in zeros or channel means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.types import Replay
from sharc.memories.base import Cue, Recalled


@dataclass(frozen=True)
class RecallProbe:
    """The first examples of a group as they were, and the error of filling in without a memory.

    Used for measuring only, never for training, so no ledger counts it.
    """

    truth: Tensor  # [w, H·W, K], half precision like the cached maps
    dropped: Tensor  # [w, 1, K] bool
    zero_fill: float  # sums of squared errors over the dropped entries
    mean_fill: float

    @classmethod
    def of(cls, maps: Tensor, cue: Cue, n_probe: int) -> "RecallProbe":
        """From all maps [n, H·W, K] of a group; the mean is that of the group's channels."""
        truth, dropped = maps[:n_probe], ~cue.kept[:n_probe, None]
        mean = maps.mean(dim=(0, 1))
        zero, filled = (float(((truth - m).square() * dropped).sum()) for m in (0.0, mean))
        return cls(truth.half(), dropped, zero, filled)

    @property
    def entries(self) -> int:
        """Number of dropped entries measured."""
        return int(self.dropped.sum()) * self.truth.shape[1]

    def error(self, recalled: Recalled) -> float:
        """Sum of squared errors over the dropped entries."""
        difference = recalled.maps - self.truth.to(recalled.maps)
        return float((difference.square() * self.dropped).sum())


def errors_by_task(
    answers: Sequence[tuple[int, RecallProbe, Recalled]], after: int
) -> list[dict[str, Any]]:
    """Mean squared errors per dropped entry: one record per task, `after` which task it was."""
    tasks: dict[int, list[tuple[RecallProbe, Recalled]]] = {}
    for task, probe, recalled in answers:
        tasks.setdefault(task, []).append((probe, recalled))
    return [_errors(part, task, after) for task, part in sorted(tasks.items())]


def _errors(answers: list[tuple[RecallProbe, Recalled]], task: int, after: int) -> dict[str, Any]:
    entries = sum(probe.entries for probe, _ in answers)
    sums = {
        "mse": sum(probe.error(recalled) for probe, recalled in answers),
        "zero_fill_mse": sum(probe.zero_fill for probe, _ in answers),
        "mean_fill_mse": sum(probe.mean_fill for probe, _ in answers),
    }
    means = {name: total / max(entries, 1) for name, total in sums.items()}
    return {"task": task, "after": after, "age": after - task, **means}


def add_accuracy(
    errors: Sequence[list[dict[str, Any]]], head: Head, replay: Replay, after: int
) -> None:
    """Add to each run's newest records how many recalled examples the head puts in their class."""
    valid = torch.ones_like(replay.y, dtype=torch.bool) if replay.valid is None else replay.valid
    right = torch.eq(head.logits(replay.x).argmax(dim=-1), replay.y) & valid  # [S, M]
    for records, run_right, run_valid in zip(errors, right, valid, strict=True):
        for record in records:
            rows = replay.task_slices[record["task"]]
            if record["after"] == after:
                record["items"] = int(run_valid[rows].sum())
                record["accuracy"] = 100.0 * int(run_right[rows].sum()) / max(record["items"], 1)
