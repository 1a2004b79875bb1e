"""Methods written as a loss: ordinary torch for one run, differentiated and stacked for all.

    class MyMethod(LossStrategy):
        replays = "sampled"

        def loss(self, new: Examples, *replayed: Examples) -> Tensor:
            total = cross_entropy(new.logits, new.labels)
            for old in replayed:
                total = total + cross_entropy(old.logits, old.labels)
            return total

`replayed` is empty in the first task; then it holds one part per draw, or one per past task where
the whole memory is replayed. Logits are those of all classes; `self.seen` marks the classes of the
tasks so far, including the current one. For anything more, a method overrides a hook.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.types import Batch, Examples, Model, Replay, Weights
from sharc.options.methods import MethodOptions
from sharc.strategies.base import Batches, Strategy
from sharc.strategies.blame import loss_of
from sharc.strategies.fisher import fisher_diagonal
from sharc.strategies.stacking import StackedLoss

__all__ = ["Examples", "LossStrategy", "Model"]


class LossStrategy(Strategy):
    """Base of every method written as a loss."""

    needs_linear_head: ClassVar[bool] = False
    keeps_old_model: ClassVar[bool] = False  # a copy of the model at each task's end, "old"
    keeps_importance: ClassVar[bool] = False  # see `importance`; implies the copy

    def __init__(self, head: Head, runs: list[RunSpec], options: MethodOptions) -> None:
        super().__init__(head, runs, options)
        self.copies: dict[str, Head] = {}
        self.seen = torch.zeros(head.n_classes, dtype=torch.bool, device=head.b.device)
        self._stacked = StackedLoss(self, self.draws)

    # What a method is made of. ----------------------------------------------------------------

    @abstractmethod
    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        """The loss of one run in one step, a scalar."""

    def penalty(self, model: Model) -> Tensor | float:
        """A regulariser on the weights themselves, added to the loss from the second task on."""
        return 0.0

    def project(self, gradient: Tensor, past: Tensor) -> Tensor:
        """The gradient [P] to follow in place of the batch's, given those of the replayed parts.

        A method that overrides it gets `loss` of the batch and of each replayed part alone; past
        is [k, P]. Called for one run at a time, so it may branch.
        """
        raise NotImplementedError

    def importance(self, fisher: Weights, before: Weights | None) -> dict[str, Tensor]:
        """Parameter importance after a task, from the Fisher information's diagonal in it.

        Both hold all runs, [S, ...]; before is what this returned a task ago.
        """
        return dict(fisher)

    def before_step(self) -> None:
        """Called before each step."""

    def after_step(self) -> None:
        """Called after each step, for example to move averages of the weights."""

    # What is done with it. --------------------------------------------------------------------

    @classmethod
    def overrides(cls, hook: str) -> bool:
        """Whether the method has a hook of its own."""
        return getattr(cls, hook) is not getattr(LossStrategy, hook)

    def copy(self, name: str) -> None:
        """Keep a copy of the model as it is now; examples then have its logits."""
        self.copies[name] = self.head.copy()

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Take the memory where all of it is replayed; draws come with each batch."""
        self.seen[self.classes[task]] = True  # in place, so that the loss is not traced again
        self._stacked.hold(replay if self.replays == "all" else None)

    def step(self, batch: Batch) -> None:
        """One step of gradient descent for all runs."""
        self.before_step()
        gradient = self._stacked.gradient(batch)
        torch._foreach_add_(list(self.head.parameters.values()), gradient, alpha=-self.rate)
        self.after_step()

    def end_task(self, task: int, batches: Batches) -> None:
        """Keep what the method wants of the task that ends."""
        if self.keeps_importance:
            fisher = fisher_diagonal(self.head, batches())
            self._stacked.importance = self.importance(fisher, self._stacked.importance)
        if self.keeps_old_model or self.keeps_importance:
            self.copy("old")
        self._stacked.penalised = self.overrides("penalty")

    def remedy(self) -> str:
        """Advice after a run diverged: the loss may be the cause."""
        return (
            f"lower the learning rate, or see that the loss in {loss_of(type(self))} stays finite"
        )

    def held_floats(self) -> dict[str, int]:
        """Copies of the model, and the importance of each of its weights."""
        size = sum(value[0].numel() for value in self.head.parameters.values())
        held = {"head_copies": len(self.copies) * size}
        held["importance"] = size if self._stacked.importance is not None else 0
        return {name: floats for name, floats in held.items() if floats}
