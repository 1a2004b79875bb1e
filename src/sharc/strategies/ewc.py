"""Online elastic weight consolidation (Schwarz et al. 2018; Kirkpatrick et al. 2017)."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from sharc.engine.types import Examples, Model, Weights
from sharc.options.methods import EWCOptions
from sharc.strategies.by_loss import LossStrategy


class EWC(LossStrategy):
    """L = CE(batch) + strength / 2 * |w - w*|^2, weighted by decay * F*.

    w* are the weights at the end of the task before, and F* <- decay * F* + F adds the Fisher
    information of the task that ends, at its own labels. The paper also normalises each task's F,
    lest rewards of different scale count differently; all tasks here have the same loss, so F is
    as it is. Nothing is replayed.
    """

    keeps_importance: ClassVar[bool] = True
    Options = EWCOptions
    options: EWCOptions

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return cross_entropy(new.logits, new.labels)

    def penalty(self, model: Model) -> Tensor:
        """The quadratic around the old weights."""
        old = model.copies["old"]
        parts = [
            (model.importance[name] * (w - old[name]).square()).sum()
            for name, w in model.weights.items()
        ]
        strength = float(self.options.strength * self.options.decay)
        return torch.stack(parts).sum() * (strength / 2)

    def importance(self, fisher: Weights, before: Weights | None) -> dict[str, Tensor]:
        """F*."""
        if before is None:
            return dict(fisher)
        return {name: self.options.decay * before[name] + f for name, f in fisher.items()}
