"""Gradient episodic memory (Lopez-Paz & Ranzato 2017)."""

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from sharc.buffers.base import Replay
from sharc.engine.head import inner_products
from sharc.engine.recollection import Recollection
from sharc.engine.steps import Batch
from sharc.strategies.base import Strategy, task_weights
from sharc.strategies.projection import gem_duals


class GEM(Strategy):
    """If <g, g_k> < 0 for any past task k: g <- g + G^T v (Eq. 11).

    v = argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v subject to v >= margin. For a linear head
    <g_k, g_l> = sum of (x_i . x_j + 1)(r_i . r_j) over the rows i of k and j of l, the 1 being
    the bias, and g + G^T v is a weight v_k on the rows of task k.
    """

    replays = "all"
    defaults: ClassVar[dict[str, Any]] = {"margin": 0.5, "ridge": 1e-3}
    _past: Recollection | None = None

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Row weights (each task's loss is a mean) and the task of each row."""
        if replay is None:
            return
        self._past = Recollection(
            self.head, replay.x, replay.y, self.options["batch"], products=True
        )
        self._weights, self._slices = task_weights(replay), replay.task_slices
        self._task_of = torch.zeros_like(replay.y)  # [S, M]
        for k, rows in enumerate(replay.task_slices):
            self._task_of[:, rows] = k
        self._members = one_hot(self._task_of, task).to(replay.x).mT.contiguous()  # [S, t, M]
        if self._past.gram is None:  # G itself, a row per task
            self._gradients = self.head.gradients(task)

    def step(self, batch: Batch) -> None:
        """Step along the gradient nearest to g that increases no past task's loss."""
        if self._past is None:
            self.head.descend(batch.x, self.cross_entropy(batch), self.rate / batch.new)
            return
        z_new, z_old = self._past.logits(batch.x)
        new = self.head.cross_entropy(z_new, batch.label_at).div_(batch.new)
        old = self._past.cross_entropy(z_old).mul_(self._weights)
        pairs = (self._past.shared * inner_products(new, old)).sum(dim=1)
        products = pairs.new_zeros(self._members.shape[:2])  # <g, g_k>, [S, t]
        products.scatter_add_(1, self._task_of, pairs)
        if not bool((products < 0).any()):
            self._past.descend(batch.x, new, None, self.rate)
            return
        margin, ridge = self.options["margin"], self.options["ridge"]
        v = gem_duals(self._task_gram(old), products, margin, ridge)
        if self._past.gram is not None:
            step = old.mul_(v.gather(1, self._task_of).unsqueeze(2))
            self._past.descend(batch.x, new, step, self.rate)
        else:
            self._past.descend(batch.x, new, None, self.rate)
            along = inner_products(v.unsqueeze(1), self._gradients.mT).squeeze(1)  # G^T v
            self.head.move_along(along, self.rate)

    def _task_gram(self, old: Tensor) -> Tensor:
        """G G^T [S, t, t]: from the rows' Gram matrices while these are the smaller ones."""
        past = self._past
        assert past is not None
        if past.gram is not None:
            pairs = inner_products(old, old).mul_(past.gram)
            return inner_products(self._members, inner_products(self._members, pairs))
        for k, rows in enumerate(self._slices):
            self.head.gradient_into(self._gradients[:, k], past.x[:, rows], old[:, rows])
        return inner_products(self._gradients, self._gradients)

    def settle(self) -> None:
        """The memory's share of the head is kept apart within a task."""
        if self._past is not None:
            self._past.settle()
