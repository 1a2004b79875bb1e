"""The gradients g_k of past tasks' losses, as GEM needs them: inner products and combinations.

While the memory has fewer rows than features no gradient is formed: <g_k, g_l> is the sum of
(x_i . x_j + 1)(r_i . r_j) over the rows i of k and j of l, the 1 being the bias, and a combination
of gradients is a weight on each task's rows. Beyond that G [S, t, n] is formed, a row per task.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from sharc.engine.full_replay import FullReplay
from sharc.engine.head import inner_products


class TaskGradients(ABC):
    """G of one step: first `sums`, which shows it the memory's residuals, then the others."""

    def __init__(self, past: FullReplay, slices: list[slice]) -> None:
        self.past, self.slices = past, slices
        self.task_of = torch.zeros(past.x.shape[:2], dtype=torch.long, device=past.x.device)
        for k, rows in enumerate(slices):
            self.task_of[:, rows] = k

    def per_task(self, rows: Tensor) -> Tensor:
        """Sum what belongs to the rows of each task, [S, M] -> [S, t]."""
        sums = rows.new_zeros(len(rows), len(self.slices))
        return sums.scatter_add_(1, self.task_of, rows)

    @abstractmethod
    def sums(self, old: Tensor) -> Tensor:
        """G G^T 1 [S, t], for the memory's weighted residuals old [S, M, C]."""

    @abstractmethod
    def gram(self) -> Tensor:
        """G G^T [S, t, t]."""

    @abstractmethod
    def descend(self, new_x: Tensor, new: Tensor, v: Tensor, rate: float) -> None:
        """Step along g + G^T v, for new rows' residuals new [S, B, C] and v [S, t] on the CPU."""


class ByRow(TaskGradients):
    """G stays implicit."""

    def __init__(self, past: FullReplay, slices: list[slice]) -> None:
        super().__init__(past, slices)
        self.members = one_hot(self.task_of, len(slices)).to(past.x).mT.contiguous()  # [S, t, M]

    def sums(self, old: Tensor) -> Tensor:
        """From the residuals and what a step on all of them would take from the logits."""
        self.old, self.gram_times = old, self.past.gram_times(old)
        return self.per_task((old * self.gram_times).sum(dim=2))

    def gram(self) -> Tensor:
        """From the Gram matrices of rows and of residuals."""
        pairs = inner_products(self.old, self.old).mul_(self.past.rows_gram)
        return inner_products(self.members, inner_products(self.members, pairs))

    def descend(self, new_x: Tensor, new: Tensor, v: Tensor, rate: float) -> None:
        """Weigh each task's rows; if all weigh alike, `gram_times` is already known."""
        alike = (v == v[:, :1]).all(dim=1)
        one_weight_each = bool(alike.all())
        v = v.to(new.device)
        weighted = self.old * v.gather(1, self.task_of).unsqueeze(2)
        gram_times = self.gram_times.mul_(v[:, :1, None])
        if not one_weight_each:
            alike = alike.to(new.device)[:, None, None]
            gram_times = torch.where(alike, gram_times, self.past.gram_times(weighted))
        self.past.descend(new_x, new, weighted, rate, gram_times)


class ByTask(TaskGradients):
    """G itself."""

    def __init__(self, past: FullReplay, slices: list[slice]) -> None:
        super().__init__(past, slices)
        self.rows = past.head.gradients(len(slices))

    def sums(self, old: Tensor) -> Tensor:
        """Form G and the products of its rows; their sum alone would read G as often."""
        for k, of_task in enumerate(self.slices):
            x = self.past.x[:, of_task]
            self.past.head.gradient_into(self.rows[:, k], x, old[:, of_task])
        self.products = inner_products(self.rows, self.rows)
        return self.products.sum(dim=2)

    def gram(self) -> Tensor:
        """As formed by `sums`."""
        return self.products

    def descend(self, new_x: Tensor, new: Tensor, v: Tensor, rate: float) -> None:
        """The step on the new rows, then one along G^T v."""
        self.past.descend(new_x, new, None, rate)
        along = inner_products(v.to(new.device).unsqueeze(1), self.rows.mT).squeeze(1)
        self.past.head.move_along(along, rate)


def task_gradients(past: FullReplay, slices: list[slice]) -> TaskGradients:
    """The cheaper form."""
    return ByTask(past, slices) if past.gram is None else ByRow(past, slices)
