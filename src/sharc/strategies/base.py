"""What a strategy is: the residual rows R whose X^T R is its gradient for a linear head.

Softmax cross-entropy of one row has the gradient x (softmax(z) - onehot(y))^T, so every rule is
a choice of rows (new ones, replayed ones), of a residual per row, and of a weight per row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from sharc.buffers.base import Replay
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.errors import UserError, unknown

COMMON: dict[str, Any] = {
    "learning_rate": 0.1,
    "batch": 10,
    "replay_batch": 10,
    "memory_strength": 1.0,
    "dtype": "float32",
    "device": "auto",
    "buffer_rule": "last",
}


@dataclass
class Batch:
    """The rows of one step: the first `new` are the task's, the others are replayed."""

    x: Tensor  # [S, R, D]
    label_at: Tensor  # [S * R] flat position of each row's label in a [S, R, C] tensor
    new: int
    logits: Tensor | None = None  # [S, R - new, C] stored logits of the replayed rows


class Strategy:
    """Base of every method; its whole rule is `step`."""

    replays: ClassVar[str] = "none"  # "none", "sampled" or "all" past examples in each step
    draws: ClassVar[int] = 1  # independent draws of `replay_batch` rows in each step
    joint: ClassVar[bool] = False  # train once on all tasks together
    wants_logits: ClassVar[bool] = False
    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, head: Head, runs: list[RunSpec], options: Mapping[str, Any]) -> None:
        self.head = head
        self.runs = runs
        self.options = options
        self.rate = float(options["learning_rate"])

    @classmethod
    def complete(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with the method's defaults; an unknown one is the user's mistake."""
        known = COMMON | cls.defaults
        for name in options:
            if name not in known:
                raise UserError(unknown(f"option of {cls.__name__}", name, known))
        return known | dict(options)

    @classmethod
    def replay_mode(cls, options: Mapping[str, Any]) -> str:
        """What a step replays under these options: "none", "sampled" or "all"."""
        return cls.replays

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Prepare what is constant within a task."""

    def step(self, batch: Batch) -> None:
        """One update of the head."""
        raise NotImplementedError

    def heads(self) -> dict[str, Head]:
        """Heads evaluated beside the main one."""
        return {}

    def evaluated(self) -> Head:
        """The head whose accuracy is the method's."""
        return self.head

    def ledger(self) -> dict[str, int]:
        """Floats held per run beyond the buffer, by name."""
        return {}


def cross_entropy(logits: Tensor, batch: Batch) -> Tensor:
    """softmax(z) - onehot(y) for all rows: the residual of the cross-entropy, [S, R, C]."""
    residual = torch.softmax(logits, dim=-1)
    residual.view(-1)[batch.label_at] -= 1
    return residual
