"""Dark experience replay ++ (Buzzega et al. 2020)."""

from typing import ClassVar

import torch

from sharc.engine.types import Batch
from sharc.options.methods import DERppOptions
from sharc.strategies.base import Strategy


class DERpp(Strategy):
    """L = CE(batch) + alpha * MSE(z(M_a), z_stored) + beta * CE(M_b).

    M_a and M_b are two independent draws; the stored logits are those an example had when it
    was first seen; the MSE is a mean over examples and classes.
    """

    loss_form = "sharc.strategies.loss_forms:DERpp"
    replays = "sampled"
    draws = 2
    wants_logits: ClassVar[bool] = True
    Options = DERppOptions
    options: DERppOptions

    def step(self, batch: Batch) -> None:
        """Rows: the batch, M_b, M_a."""
        logits = self.head.logits(batch.x)
        residual = self.head.ce_residual(logits, batch.label_offsets)
        if batch.logits is not None:
            a = slice(-(batch.logits.shape[1] // 2), None)
            torch.sub(logits[:, a], batch.logits[:, a], out=residual[:, a])
        shares = (1.0, self.options.beta, 2 * self.options.alpha / self.head.n_classes)
        residual.mul_(self.block_weights(batch, *shares))
        self.head.descend(batch.x, residual, self.rate)
