"""Gradient episodic memory (Lopez-Paz & Ranzato 2017)."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from sharc.buffers.base import Replay
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

    def begin_task(self, task: int, replay: Replay | None) -> None:
        """Row weights, rows' tasks as [M] and [S, M, t], the memory's Gram matrix if it pays."""
        self._memory = replay
        if replay is None:
            return
        batch = self.options["batch"]
        new = replay.x.new_full((len(self.runs), batch, 1), 1 / batch)
        self._weights = torch.cat([new, task_weights(replay)], dim=1)
        self._task_of = torch.zeros_like(replay.y[0])
        for k, rows in enumerate(replay.task_slices):
            self._task_of[rows] = k
        member = torch.nn.functional.one_hot(self._task_of, task).to(replay.x)
        self._member = member.expand(len(self.runs), -1, -1)
        x = replay.x
        self._gram = x @ x.transpose(1, 2) + 1 if x.shape[1] < x.shape[2] else None

    def step(self, batch: Batch) -> None:
        """Step along the gradient nearest to g that increases no past task's loss."""
        residual = self.cross_entropy(batch)
        if self._memory is None:
            self.head.descend(batch.x, residual, self.rate / batch.new)
            return
        residual.mul_(self._weights)
        new_x, old_x = batch.x[:, : batch.new], self._memory.x
        new, old = residual[:, : batch.new], residual[:, batch.new :]
        shared = torch.bmm(new_x, old_x.transpose(1, 2)).add_(1)
        pairs = shared.mul_(torch.bmm(new, old.transpose(1, 2))).sum(dim=1, keepdim=True)
        products = torch.bmm(pairs, self._member).squeeze(1)  # <g, g_k>, [S, t]
        violated = (products < 0).any(dim=1).nonzero().flatten().tolist()
        if not violated:
            self.head.descend(new_x, new, self.rate)
            return
        share = torch.zeros_like(products)
        for run in violated:
            gram = self._task_gram(run, old[run])
            share[run] = gem_dual(gram, products[run], **self._qp).to(share)
        old.mul_(share[:, self._task_of].unsqueeze(2))
        self.head.descend(batch.x, residual, self.rate)

    @property
    def _qp(self) -> dict[str, float]:
        return {"margin": self.options["margin"], "ridge": self.options["ridge"]}

    def _task_gram(self, run: int, residual: Tensor) -> Tensor:
        """G G^T of one run, [t, t]: from Gram matrices while they are the smaller ones."""
        if self._gram is not None:
            pairs = self._gram[run] * (residual @ residual.T)
            return self._member[run].T @ pairs @ self._member[run]
        assert self._memory is not None
        x, rows = self._memory.x[run], self._memory.task_slices
        gradients = [torch.cat([x[k].T @ residual[k], residual[k].sum(0)[None]]) for k in rows]
        stacked = torch.stack(gradients).flatten(1)
        return stacked @ stacked.T
