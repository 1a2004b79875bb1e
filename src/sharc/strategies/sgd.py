"""Plain SGD on the task at hand: the lower bound."""

from sharc.engine.types import Batch
from sharc.strategies.base import Strategy


class SGD(Strategy):
    """L = CE(batch)."""

    loss_form = "sharc.strategies.loss_forms:SGD"

    def step(self, batch: Batch) -> None:
        self.head.descend(batch.x, self.ce_residual(batch), self.rate / batch.n_new)
