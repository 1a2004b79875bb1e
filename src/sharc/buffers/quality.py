"""How well a memory recalls what is stored: its error beside those of zeros and class means."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.memories.base import Cue, Recalled


@dataclass(frozen=True)
class Yardstick:
    """The first examples of a group as they were, and what filling without a memory costs.

    Held to measure by, never to train on: no ledger counts it.
    """

    truth: Tensor  # [w, H·W, K], half precision like the cached maps
    dropped: Tensor  # [w, 1, K] bool
    zero_fill: float  # sums of squared errors over the dropped entries
    mean_fill: float

    @classmethod
    def of(cls, maps: Tensor, cue: Cue, watch: int) -> "Yardstick":
        """From all maps [n, H·W, K] of a group; the mean is that of the group's channels."""
        truth, dropped = maps[:watch], ~cue.kept[:watch, None]
        mean = maps.mean(dim=(0, 1))
        zero, filled = (float(((truth - m).square() * dropped).sum()) for m in (0.0, mean))
        return cls(truth.half(), dropped, zero, filled)

    @property
    def entries(self) -> int:
        """Dropped entries measured on."""
        return int(self.dropped.sum()) * self.truth.shape[1]

    def error(self, recalled: Recalled) -> float:
        """Sum of squared errors over the dropped entries."""
        difference = recalled.maps - self.truth.to(recalled.maps)
        return float((difference.square() * self.dropped).sum())


def report(
    yardsticks: list[Yardstick], recalled: list[Recalled], task: int, after: int
) -> dict[str, Any]:
    """Mean squared errors per dropped entry of one task's groups, `after` - `task` tasks later."""
    entries = sum(y.entries for y in yardsticks)
    sums = {
        "mse": sum(y.error(r) for y, r in zip(yardsticks, recalled, strict=True)),
        "zero_fill_mse": sum(y.zero_fill for y in yardsticks),
        "mean_fill_mse": sum(y.mean_fill for y in yardsticks),
    }
    means = {name: total / max(entries, 1) for name, total in sums.items()}
    return {"task": task, "after": after, "age": after - task, **means}


def hits(head: Head, x: Tensor, y: Tensor) -> Tensor:
    """[S, M] bool: which examples the head puts in their class among all classes."""
    return torch.eq(head.logits(x).argmax(dim=-1), y)
