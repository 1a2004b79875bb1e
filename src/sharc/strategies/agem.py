"""Averaged gradient episodic memory (Chaudhry et al. 2019)."""

from sharc.engine.head import inner_products
from sharc.engine.steps import Batch
from sharc.strategies.base import Strategy

TINY = 1e-30  # a zero g_ref projects nothing


class AGEM(Strategy):
    """If <g, g_ref> < 0: g <- g - (<g, g_ref> / <g_ref, g_ref>) g_ref.

    g is the gradient of CE(batch), g_ref that of CE(draw from all past tasks). For a linear head
    <g_a, g_b> = sum over rows i of a, j of b of (x_i . x_j + 1)(r_i . r_j), the 1 being the
    bias: no gradient is materialised, and the projection is a weight on the draw's rows.
    """

    replays = "sampled"

    def step(self, batch: Batch) -> None:
        """Step along the projected gradient."""
        residual = self.cross_entropy(batch).mul_(self.block_weights(batch, 1.0, 1.0))
        if batch.x.shape[1] > batch.new:
            x, r = batch.x[:, batch.new :], residual[:, batch.new :]
            pairs = inner_products(x, batch.x).add_(1).mul_(inner_products(r, residual))
            with_old = pairs.sum(dim=1)  # <g_ref, row's gradient>, [S, R]
            conflict = with_old[:, : batch.new].sum(dim=1).neg_().clamp_(min=0)
            length = with_old[:, batch.new :].sum(dim=1).clamp_(min=TINY)
            share = conflict.div_(length)
            residual[:, batch.new :].mul_(share[:, None, None])
        self.head.descend(batch.x, residual, self.rate)
