"""Meta-experience replay (Riemer et al. 2019)."""

from sharc.engine.types import Batch
from sharc.options.methods import MEROptions
from sharc.strategies.base import Strategy


class MER(Strategy):
    """Reptile averages within (beta) and across (gamma) batches.

    One inner step on CE(batch) + strength * CE(draw), then w <- w_0 + beta (w - w_0) and
    w <- w_A + gamma (w - w_A): with one inner step both start from the same w, and the two
    averages are a factor of the step.
    """

    loss_form = "sharc.strategies.loss_forms:MER"
    replays = "sampled"
    Options = MEROptions
    options: MEROptions

    def step(self, batch: Batch) -> None:
        shares = (1.0, self.options.memory_strength)
        rate = self.rate * self.options.beta * self.options.gamma
        self.descend_means(batch, self.ce_residual(batch), shares, rate)
