"""Learning without forgetting: LwF (Li and Hoiem 2017)."""

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, softmax

from sharc.engine.types import Examples, Replay
from sharc.options.methods import LwFOptions
from sharc.strategies.by_loss import LossStrategy


class LwF(LossStrategy):
    """L = CE(batch) + strength * sum over old tasks k of L_old(y_k, y'_k): Eqs. 1 to 4.

    L_old is the cross-entropy between what the model of a task ago says to the new examples about
    an old task's classes and what the model says now, both at temperature T. Nothing is replayed.
    The paper has an output layer per task, trained alone at first; over a frozen backbone those
    would share no weights, so CE is over all classes here, as for every other method, from the
    first step. The paper's weight decay is left out, as everywhere here.
    """

    keeps_old_model: ClassVar[bool] = True
    Options = LwFOptions
    options: LwFOptions

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        super().begin_task(task, replay, steps)
        device = self.head.b.device
        self.old_tasks = [torch.tensor(c, device=device) for c in self.classes[:task]]

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        """The batch's own loss, and the distillation of each old task."""
        total = cross_entropy(new.logits, new.labels)
        temperature = self.options.temperature
        for classes in self.old_tasks:
            before = softmax(new.logits_of["old"][:, classes] / temperature, dim=1)
            now = log_softmax(new.logits[:, classes] / temperature, dim=1)
            total = total - self.options.strength * (before * now).sum(dim=1).mean()
        return total
