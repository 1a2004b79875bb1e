"""Averaged gradient episodic memory (Chaudhry et al. 2019)."""

import torch

from sharc.engine.head import inner_products
from sharc.engine.types import Batch
from sharc.strategies.base import Strategy

TINY = 1e-30  # a zero g_ref projects nothing


class AGEM(Strategy):
    """If <g, g_ref> < 0: g <- g - (<g, g_ref> / <g_ref, g_ref>) g_ref.

    g is the gradient of CE(batch), g_ref that of CE(draw from all past tasks). For a linear head
    <g_a, g_b> = sum over rows i of a, j of b of (x_i . x_j + 1)(r_i . r_j), the 1 being the
    bias: no gradient is materialised, and the projection is a weight on the draw's rows.
    """

    loss_form = "sharc.strategies.loss_forms:AGEM"
    replays = "sampled"

    def step(self, batch: Batch) -> None:
        """Step along the projected gradient.

        Sums stand for means: the size of the draw cancels in the projection, that of the batch
        is a factor of the whole step.
        """
        residual = self.ce_residual(batch)
        if batch.x.shape[1] > batch.n_new:
            x, r = batch.x[:, batch.n_new :], residual[:, batch.n_new :]
            rows = inner_products(r, residual)
            pairs = torch.addcmul(rows, rows, inner_products(x, batch.x))  # (x.x + 1)(r.r)
            conflict, length = (
                part.sum(dim=(1, 2)) for part in pairs.tensor_split((batch.n_new,), 2)
            )
            share = conflict.neg_().clamp_(min=0).div_(length.clamp_(min=TINY))
            r.mul_(share.view(-1, 1, 1))
        self.head.descend(batch.x, residual, self.rate / batch.n_new)
