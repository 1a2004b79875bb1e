"""Experience replay (Robins 1995; Chaudhry et al. 2019)."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from sharc.buffers.base import Replay
from sharc.engine.steps import Batch
from sharc.errors import UserError, unknown
from sharc.strategies.base import Strategy, task_weights

MODES = {"full": "all", "sampled": "sampled"}


class ER(Strategy):
    """L = CE(batch) + strength * CE(replay).

    full: the whole memory of every past task in every step, CE(replay) = mean over past tasks k
    of CE(M_k). sampled: `replay_batch` examples drawn from all past tasks.
    """

    replays = "all"
    defaults: ClassVar[dict[str, Any]] = {"replay": "full", "memory_strength": 1.0}
    _weights: Tensor | None = None

    @classmethod
    def replay_mode(cls, options: Mapping[str, Any]) -> str:
        """Whether a step replays the whole memory or a draw from it."""
        if options["replay"] not in MODES:
            raise UserError(unknown("replay of er", options["replay"], MODES))
        return MODES[options["replay"]]

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Weights of all rows: the new ones' mean, and the mean of the past tasks' means."""
        if self.replays == "all" and replay is not None:
            strength, batch = self.options["memory_strength"], self.options["batch"]
            new = replay.x.new_full((len(self.runs), batch, 1), 1 / batch)
            self._weights = torch.cat([new, task_weights(replay) * (strength / task)], dim=1)

    def step(self, batch: Batch) -> None:
        """One gradient step on the sum of both losses."""
        weights = self._weights
        if weights is None:
            weights = self.block_weights(batch, 1.0, self.options["memory_strength"])
        self.head.descend(batch.x, self.cross_entropy(batch).mul_(weights), self.rate)
