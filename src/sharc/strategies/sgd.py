"""Plain SGD on the task at hand: the lower bound."""

from sharc.engine.steps import Batch
from sharc.strategies.base import Strategy


class SGD(Strategy):
    """L = CE(batch)."""

    def step(self, batch: Batch) -> None:
        """Mean cross-entropy of the batch, nothing else."""
        self.head.descend(batch.x, self.cross_entropy(batch), self.rate / batch.new)
