"""Experience replay (Robins 1995; Chaudhry et al. 2019)."""

from sharc.engine.full_replay import FullReplay
from sharc.engine.types import Batch, Replay
from sharc.options.methods import EROptions, MethodOptions
from sharc.strategies.base import Strategy, task_weights

MODES = {"full": "all", "sampled": "sampled"}


class ER(Strategy):
    """L = CE(batch) + strength * CE(replay).

    full: the whole memory of every past task in every step, CE(replay) = mean over past tasks k
    of CE(M_k). sampled: `replay_batch` examples drawn from all past tasks.
    """

    loss_form = "sharc.strategies.loss_forms:ER"
    replays = "all"
    Options = EROptions
    options: EROptions
    _past: FullReplay | None = None

    @classmethod
    def replay_mode(cls, options: MethodOptions) -> str:
        """Whether a step replays the whole memory or a draw from it."""
        return MODES[options.replay] if isinstance(options, EROptions) else cls.replays

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Weights of the memory's rows: past tasks count equally."""
        if self.replays == "all" and replay is not None:
            self._past = FullReplay(self.head, replay.x, replay.y, self.options.batch)
            self._weights = task_weights(replay) * (self.options.memory_strength / task)

    def step(self, batch: Batch) -> None:
        """One gradient step on the sum of both losses."""
        if self._past is None:
            shares = (1.0, self.options.memory_strength)
            self.descend_means(batch, self.ce_residual(batch), shares, self.rate)
            return
        z_new, z_old = self._past.logits(batch)
        new = self.head.ce_residual(z_new, batch.label_offsets).div_(batch.n_new)
        old = self._past.ce_residual(z_old).mul_(self._weights)
        self._past.descend(batch.x, new, old, self.rate)

    def flush(self) -> None:
        """Whole-memory replay keeps its share of the head apart within a task."""
        if self._past is not None:
            self._past.flush()
