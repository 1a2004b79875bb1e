"""Which channels of an example a run keeps, by the head that sees it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.randomness import generator
from sharc.saliency import channel_saliency, masks


class ChannelMasks:
    """One rule of saliency for a stack of runs, each with its own share of dropped channels."""

    def __init__(
        self, rule: str, runs: Sequence[RunSpec], thetas: Sequence[float], stream: TaskStream
    ) -> None:
        self.rule, self.runs, self.thetas, self.stream = rule, runs, thetas, stream
        views = [stream.view_of(run.seed) * len(stream.y) for run in runs]
        self._first_row = torch.tensor(views, device=stream.x.device)

    def begin_task(self, task: int) -> None:
        """Draw the control's saliencies of this task."""
        if self.rule == "random":
            shape = (self.stream.n_classes, self.stream.n_features)
            draws = [
                torch.rand(shape, generator=generator(run.seed, "mask", task)) for run in self.runs
            ]
            self._chance = torch.stack(draws).to(self.stream.x.device)

    def kept(self, run: Tensor, index: Tensor, head: Head) -> Tensor:
        """Eq. 3 and 4 for training images `index` [k] of the runs `run` [k] -> bool [k, K]."""
        label = self.stream.y[index]
        if self.rule == "random":
            rows, rule = self._chance[run, label], "abs_gt"
        else:
            height, width = self.stream.map_size
            x = self.stream.x.view(-1, self.stream.n_features)[index + self._first_row[run]]
            gradient = head.saliency(run, label, x)
            rows, rule = channel_saliency(gradient, height * width), self.rule
        kept = torch.empty_like(rows, dtype=torch.bool)
        for one in run.unique().tolist():
            mine = run == one
            kept[mine] = masks(rows[mine], self.thetas[one], rule)
        return kept
