"""The base of strategies: residual rows R whose X^T R is the gradient for a linear head.

Softmax cross-entropy of one row has the gradient x (softmax(z) - onehot(y))^T, so every rule is
a choice of rows (new ones, replayed ones), of a residual per row, and of a weight per row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.types import Batch, Replay
from sharc.options.base import HasOptions, parsed
from sharc.options.methods import MethodOptions

Batches = Callable[[], Iterator[Batch]]


class Strategy(HasOptions, ABC):
    """Base of every method; its whole rule is `step`."""

    replays: str = "none"  # what each step replays: "none", "sampled" or "all"
    draws: int = 1  # independent draws of `replay_batch` rows in each step
    joint: ClassVar[bool] = False  # train once, on all tasks together
    wants_logits: ClassVar[bool] = False  # the buffer keeps the logits an example had
    needs_linear_head: ClassVar[bool] = True  # as every closed form does
    loss_form: ClassVar[str | None] = None  # "module:Class" that serves where a closed form cannot
    classes: Sequence[Sequence[int]] = ()  # of each task; the trainer says which
    Options: ClassVar[type[MethodOptions]] = MethodOptions
    options: MethodOptions

    def __init__(self, head: Head, runs: list[RunSpec], options: MethodOptions) -> None:
        self.head, self.runs, self.options = head, runs, options
        self.name = type(self).__name__.lower()
        self.rate = options.learning_rate
        self.replays = self.replay_mode(options)
        self._block_weights: dict[int, Tensor] = {}

    @classmethod
    def complete(cls, options: Mapping[str, Any]) -> MethodOptions:
        """Options with the method's defaults filled in; an unknown one is the user's mistake."""
        return parsed(cls.Options, options, f"method {cls.__name__.lower()}")

    @classmethod
    def replay_mode(cls, options: MethodOptions) -> str:
        """What a step replays under these options."""
        return cls.replays

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Prepare what is constant within a task; replay is None until there is a past."""

    @abstractmethod
    def step(self, batch: Batch) -> None:
        """One update of the head."""

    def end_task(self, task: int, batches: Batches) -> None:
        """Keep what is needed of the finished task; batches() iterates over its examples again."""

    def flush(self) -> None:
        """Bring the head up to date, if the strategy holds part of it elsewhere."""

    def evaluated(self) -> Head:
        """The head whose accuracy is the method's."""
        return self.head

    def heads(self) -> dict[str, Head]:
        """Further heads to evaluate, by name."""
        return {}

    def keeps_statistics(self, head: Head) -> bool:
        """Whether a head is tested on features from before any training (see bn_mode train)."""
        return False

    def remedy(self) -> str:
        """What to do about a run that diverged."""
        return "lower the learning rate"

    def held_floats(self) -> dict[str, int]:
        """Numbers held per run beyond the head and the buffer, by the ledger's names."""
        return {}

    def ce_residual(self, batch: Batch) -> Tensor:
        """softmax(z) - onehot(y) of every row, [S, R, C]."""
        return self.head.ce_residual_of(batch.x, batch.label_offsets)

    def descend_means(
        self, batch: Batch, residual: Tensor, shares: tuple[float, ...], rate: float
    ) -> None:
        """Step on the sum of each block's mean loss times its share."""
        old = batch.x.shape[1] - batch.n_new
        if old == 0 or (old == batch.n_new and shares[0] == shares[1]):  # all rows weigh the same
            self.head.descend(batch.x, residual, rate * shares[0] / batch.n_new)
        else:
            weights = self.block_weights(batch, *shares)
            self.head.descend(batch.x, residual.mul_(weights), rate)

    def block_weights(self, batch: Batch, *shares: float) -> Tensor:
        """share / size for the rows of each block: new ones, then each draw: [1, R, 1]."""
        n_rows = batch.x.shape[1]
        if n_rows not in self._block_weights:
            old = (n_rows - batch.n_new) // max(1, self.draws)
            sizes = [batch.n_new] + [old] * self.draws if old else [batch.n_new]
            rows = [batch.x.new_full((n,), s / n) for n, s in zip(sizes, shares, strict=False)]
            self._block_weights[n_rows] = torch.cat(rows)[None, :, None]
        return self._block_weights[n_rows]


def task_weights(replay: Replay) -> Tensor:
    """1 / (examples of its task) for each row of the memory, 0 for an empty slot: [S, M, 1]."""
    valid = torch.ones_like(replay.y) if replay.valid is None else replay.valid
    valid = valid.to(replay.x.dtype)
    parts = [valid[:, s] / valid[:, s].sum(dim=1, keepdim=True) for s in replay.task_slices]
    return torch.cat(parts, dim=1).unsqueeze(2)
