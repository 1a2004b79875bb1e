"""Complementary learning systems: CLS-ER (Arani et al. 2022)."""

from collections.abc import Iterator

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.types import Batch, Replay
from sharc.options.methods import CLSEROptions
from sharc.randomness import generator
from sharc.strategies.base import Strategy


class Averages:
    """Which averages move after which step, in which runs, and how far."""

    def __init__(self, runs: list[RunSpec], options: CLSEROptions) -> None:
        self._frequency = {"plastic": options.plastic_freq, "stable": options.stable_freq}
        self._decay = {"plastic": options.plastic_alpha, "stable": options.stable_alpha}
        self._steps = 0
        self._coins = [generator(run.seed, "ema") for run in runs]

    def begin_task(self, steps: int) -> None:
        """Draw, for each step of the task, the runs whose averages move, the last step first."""
        self._moves: list[dict[str, list[int]]] = [{} for _ in range(steps)]
        for run, coins in enumerate(self._coins):
            tossed = torch.rand(steps, 2, generator=coins)
            for column, name in enumerate(("plastic", "stable")):
                heads = tossed[:, column] < self._frequency[name]
                for step in heads.nonzero().flatten().tolist():
                    self._moves[-1 - step].setdefault(name, []).append(run)

    def moves(self) -> Iterator[tuple[str, float, list[int]]]:
        """After a step: the average's name, the share of the way it moves, and the runs."""
        self._steps += 1
        newest = 1 / (self._steps + 1)
        for name, runs in self._moves.pop().items():
            yield name, max(newest, 1 - self._decay[name]), runs


class CLSER(Strategy):
    """L = CE(batch and draw together) + reg * mean((z - z_teacher)^2) on the draw.

    The teacher of an example is the stable head if it gives the true label a higher probability
    than the plastic one, else the plastic head. After each step the plastic and the stable head
    move, each with its own probability, to ema <- a ema + (1 - a) working, a = min(1 - 1/(s+1),
    alpha) after s steps.
    """

    loss_form = "sharc.strategies.loss_forms:CLSER"
    replays = "sampled"
    Options = CLSEROptions
    options: CLSEROptions

    def __init__(self, head: Head, runs: list[RunSpec], options: CLSEROptions) -> None:
        super().__init__(head, runs, options)
        self._all = {"stable": head.copy(), "plastic": head.copy(), "working": head}
        self._averages = Averages(runs, options)

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Draw which averages move after each step of the task."""
        self._averages.begin_task(steps)

    def step(self, batch: Batch) -> None:
        """Step the working head, then let the averages follow."""
        rows = batch.x.shape[1]
        logits = self.head.logits(batch.x)
        residual = self.head.ce_residual(logits, batch.label_offsets)  # of each row, not yet a mean
        if old := rows - batch.n_new:
            drift = logits[:, batch.n_new :] - self._teacher(batch)
            scale = 2 * self.options.reg / (old * logits.shape[2])
            residual[:, batch.n_new :].add_(drift, alpha=scale * rows)
        self.head.descend(batch.x, residual, self.rate / rows)
        for name, share, moved in self._averages.moves():
            self._all[name].move_towards(self.head, share, moved)

    def _teacher(self, batch: Batch) -> Tensor:
        """Logits of the replayed rows by whichever average knows each better, [S, old, C]."""
        axis = self.head.class_axis  # as stored: transposing each view took a seventh longer
        x, label = batch.x[:, batch.n_new :], batch.y[:, batch.n_new :].unsqueeze(axis)
        stable = self._all["stable"].logits_as_stored(x)
        plastic = self._all["plastic"].logits_as_stored(x)
        known, rival = (torch.softmax(z, axis).gather(axis, label) for z in (stable, plastic))
        return self.head.by_row(torch.where(known > rival, stable, plastic))

    def evaluated(self) -> Head:
        """The head whose accuracy counts; CLS-ER's own paper tests the stable one."""
        return self._all[self.options.head]

    def heads(self) -> dict[str, Head]:
        return {name: head for name, head in self._all.items() if name != self.options.head}

    def keeps_statistics(self, head: Head) -> bool:
        """The authors' averages are copies of the network whose BatchNorm never trains."""
        return head is not self.head

    def held_floats(self) -> dict[str, int]:
        return {"head_copies": 2 * (self.head.n_features + 1) * self.head.n_classes}
