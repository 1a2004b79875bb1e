"""Gradient episodic memory (Lopez-Paz & Ranzato 2017)."""

from functools import partial

from sharc.engine.full_replay import FullReplay
from sharc.engine.head import inner_products
from sharc.engine.task_gradients import task_gradients
from sharc.engine.types import Batch, Replay
from sharc.options.methods import GEMOptions
from sharc.strategies.base import Strategy, task_weights
from sharc.strategies.projection import gem_duals


class GEM(Strategy):
    """If <g, g_k> < 0 for any past task k: g <- g + G^T v (Eq. 11).

    v = argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v subject to v >= margin; the rows of G are
    the gradients g_k of the mean loss over each past task's memory, g that of the batch.
    """

    loss_form = "sharc.strategies.loss_forms:GEM"
    replays = "all"
    Options = GEMOptions
    options: GEMOptions
    _past: FullReplay | None = None

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Row weights: each task's loss is a mean."""
        if replay is None:
            return
        self._past = FullReplay(self.head, replay.x, replay.y, self.options.batch, products=True)
        self._weights = task_weights(replay)
        self._tasks = task_gradients(self._past, replay.task_slices)

    def step(self, batch: Batch) -> None:
        """Step along the gradient nearest to g that increases no past task's loss."""
        if self._past is None:
            self.head.descend(batch.x, self.ce_residual(batch), self.rate / batch.n_new)
            return
        z_new, z_old = self._past.logits(batch)
        new = self.head.ce_residual(z_new, batch.label_offsets).div_(batch.n_new)
        old = self._past.ce_residual(z_old).mul_(self._weights)
        pairs = self._past.cross_gram * inner_products(new, old)
        products = self._tasks.per_task(pairs.sum(dim=1))  # <g, g_k>, [S, t]
        margin, ridge = self.options.margin, self.options.ridge
        sums = partial(self._tasks.sums, old)
        v = gem_duals(self._tasks.gram, sums, products, margin, ridge)
        if v is None:
            self._past.descend(batch.x, new, None, self.rate)
        else:
            self._tasks.descend(batch.x, new, v, self.rate)

    def flush(self) -> None:
        """The memory's share of the head is kept apart within a task."""
        if self._past is not None:
            self._past.flush()
