"""Gradient episodic memory (Lopez-Paz & Ranzato 2017)."""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from sharc.buffers.base import Replay
from sharc.engine.head import inner_products
from sharc.engine.steps import Batch
from sharc.strategies.base import Strategy, task_weights
from sharc.strategies.projection import gem_dual


class GEM(Strategy):
    """If <g, g_k> < 0 for any past task k: g <- g + G^T v (Eq. 11).

    v = argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v subject to v >= margin. Gradients are
    never materialised: <g_k, g_l> = sum of (x_i . x_j + 1)(r_i . r_j) over the rows i of k and
    j of l, and g + G^T v is a weight v_k on the rows of task k.
    """

    replays = "all"
    defaults: ClassVar[dict[str, Any]] = {"margin": 0.5, "ridge": 1e-3}
    _memory: Replay | None = None

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Row weights, the task of each row, and the memory's Gram matrix if it pays."""
        self._memory = replay
        if replay is None:
            return
        batch, x = self.options["batch"], replay.x
        new = x.new_full((len(self.runs), batch, 1), 1 / batch)
        self._weights = torch.cat([new, task_weights(replay)], dim=1)
        self._task_of = torch.zeros_like(replay.y)  # [S, M]
        for k, rows in enumerate(replay.task_slices):
            self._task_of[:, rows] = k
        self._member = one_hot(self._task_of[0], task).to(x)  # [M, t]
        self._gram = inner_products(x, x).add_(1) if x.shape[1] < x.shape[2] else None

    def step(self, batch: Batch) -> None:
        """Step along the gradient nearest to g that increases no past task's loss."""
        residual = self.cross_entropy(batch)
        if self._memory is None:
            self.head.descend(batch.x, residual, self.rate / batch.new)
            return
        residual.mul_(self._weights)
        new_x, new, old = (
            batch.x[:, : batch.new],
            residual[:, : batch.new],
            residual[:, batch.new :],
        )
        pairs = inner_products(new_x, self._memory.x).add_(1).mul_(inner_products(new, old))
        products = pairs.new_zeros(len(pairs), self._member.shape[1])  # <g, g_k>, [S, t]
        products.scatter_add_(1, self._task_of, pairs.sum(dim=1))
        self.head.descend(new_x, new, self.rate)
        for run in (products < 0).any(dim=1).nonzero().flatten().tolist():
            v = gem_dual(self._task_gram(run, old[run]), products[run], **self._qp).to(products)
            weighted = old[run] * v[self._task_of[run], None]
            self.head.descend_one(run, self._memory.x[run], weighted, self.rate)

    @property
    def _qp(self) -> dict[str, float]:
        return {"margin": self.options["margin"], "ridge": self.options["ridge"]}

    def _task_gram(self, run: int, residual: Tensor) -> Tensor:
        """G G^T of one run, [t, t]: from Gram matrices while they are the smaller ones."""
        if self._gram is not None:
            pairs = self._gram[run] * (residual @ residual.T)
            return self._member.T @ pairs @ self._member
        assert self._memory is not None
        x, rows = self._memory.x[run], self._memory.task_slices
        gradients = [torch.cat([x[k].T @ residual[k], residual[k].sum(0)[None]]) for k in rows]
        stacked = torch.stack(gradients).flatten(1)
        return stacked @ stacked.T
