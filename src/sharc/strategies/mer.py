"""Meta-experience replay (Riemer et al. 2019)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.types import Batch
from sharc.errors import UserError, unknown
from sharc.strategies.base import Strategy

MODES = ("batch", "original")


class MER(Strategy):
    """Reptile averages within (beta) and across (gamma) the inner steps of a batch.

    batch: one inner step on CE(batch) + strength * CE(draw), then w <- w_0 + beta (w - w_0) and
    w <- w_A + gamma (w - w_A): with one inner step both start from the same w. original: every
    new example is learnt last of a draw of past ones, one example a step (Algorithm 1).
    """

    replays = "sampled"
    defaults: ClassVar[dict[str, Any]] = {
        "beta": 1.0,
        "gamma": 1.0,
        "mode": "batch",
        "memory_strength": 1.0,
    }

    def __init__(self, head: Head, runs: list[RunSpec], options: Mapping[str, Any]) -> None:
        super().__init__(head, runs, options)
        if options["mode"] not in MODES:
            raise UserError(unknown("mode of mer", options["mode"], MODES))
        self.original = options["mode"] == "original"
        self.draws = int(options["batch"]) if self.original else 1

    def step(self, batch: Batch) -> None:
        """Inner steps, then both averages."""
        if self.original:
            self._one_by_one(batch)
            return
        shares = (1.0, self.options["memory_strength"])
        rate = self.rate * self.options["beta"] * self.options["gamma"]
        self.descend_means(batch, self.ce_residual(batch), shares, rate)

    def _one_by_one(self, batch: Batch) -> None:
        """For each new example: steps on its draw and at last on itself, then the averages."""
        size = (batch.x.shape[1] - batch.n_new) // batch.n_new
        for example in range(batch.n_new):
            before = self.head.copy()
            first = batch.n_new + example * size
            for row in (*range(first, first + size), example):
                x, y = batch.x[:, row : row + 1], batch.y[:, row : row + 1]
                at = self.head.label_offsets(y)
                residual = self.head.ce_residual(self.head.logits(x), at)
                self.head.descend(x, residual, self.rate)
            # one inner batch: within and across average start from the same weights
            kept = self.options["beta"] * self.options["gamma"]
            self.head.move_towards(before, 1 - kept)
