"""The base of episodic memories: which examples of a task they keep, and what they replay.

A buffer serves a stack of S runs. Which examples will be stored when a task ends follows from the
data order alone, so it is known when the task begins: only the few steps with such an example are
observed; all others cost nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.selection import RULES
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Replay
from sharc.errors import UserError
from sharc.options.methods import MethodOptions


@dataclass(frozen=True)
class Capture:
    """The examples of one step that will be kept, k of them over all runs."""

    run: Tensor  # [k] which run of the stack
    row: Tensor  # [k] which row of its mini-batch
    slot: Tensor  # [k] which slot of its task's memory
    index: Tensor  # [k] which training image
    label: Tensor  # [k]


class Buffer(ABC):
    """Base of every episodic memory; a subclass decides what it captures and replays.

    The engine calls, per task: begin_task, then observe(step, ...) for each step in
    `self.captures` with the head BEFORE that step's update, then end_task. `self.replay` holds the
    past tasks' examples from the begin_task of the second task on: a subclass sets it in its
    end_task, or recalls it in its begin_task.
    """

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: MethodOptions,
        wants_logits: bool = False,
    ) -> None:
        self.stream = stream
        self.runs = list(runs)
        self.wants_logits = wants_logits
        self.rule = options.buffer_rule
        for run in self.runs:
            if run.buffer < stream.n_tasks:
                raise UserError(
                    f"buffer {run.buffer} is smaller than the {stream.n_tasks} tasks of"
                    f" {stream.name!r}: each task needs at least one slot; use a buffer of"
                    f" {stream.n_tasks} or more."
                )
        self.replay: Replay | None = None
        self.captures: dict[int, Capture] = {}
        self.kept: list[Tensor] = []  # per past task, training indices [S, m]
        self.kept_position: list[Tensor] = []  # per past task, positions in its order [S, m]
        self.kept_valid: list[Tensor] = []  # per past task, [S, m] bool
        self.logits: list[Tensor] = []  # per past task, [S, m, C], or [S, m, 0] if not wanted
        self.n_logits = stream.n_classes if wants_logits else 0  # numbers held with each example
        self.slots = [run.buffer // stream.n_tasks for run in self.runs]  # whole maps per task
        self.capacities = self.slots  # examples a task may keep, per run

    @property
    def n_positions(self) -> int:
        """H·W of a feature map."""
        height, width = self.stream.map_size
        return height * width

    def begin_task(self, task: int, head: Head, order: Tensor, batch: int) -> None:
        """Plan which of `order` [S, n] (training indices as they will be seen) to keep."""
        keep = [
            self.candidates(self.stream.y[row], run, task, batch).to(order.device)
            for run, row in enumerate(order)
        ]
        size = max(len(k) for k in keep)
        position = torch.stack([torch.cat([k, k[:1].expand(size - len(k))]) for k in keep])
        counts = torch.tensor([len(k) for k in keep], device=order.device)
        self.kept.append(order.gather(1, position))
        self.kept_position.append(position)
        self.kept_valid.append(
            torch.arange(size, device=order.device).expand(len(keep), -1) < counts[:, None]
        )
        self.logits.append(self.stream.x.new_zeros(len(keep), size, self.n_logits))
        self.captures = self._plan(position, batch) if self.observes else {}

    def candidates(self, labels: Tensor, run: int, task: int, batch: int) -> Tensor:
        """Positions in the task's order that may still be held when it ends, ascending."""
        size = min(self.capacities[run], len(labels))
        return RULES[self.rule](labels, size, self.runs[run].seed, task, batch)

    @property
    def observes(self) -> bool:
        """Whether anything but the example itself must be captured when it is seen."""
        return self.wants_logits

    def observe(self, step: int, logits: Tensor | None, head: Head) -> None:
        """Capture what must be recorded when an example is seen.

        logits [S, B, C] (None unless wanted) and head are those before the update.
        """
        capture = self.captures[step]
        if logits is not None:
            self.logits[-1][capture.run, capture.slot] = logits[capture.run, capture.row]
        self.capture(capture, head)

    def capture(self, capture: Capture, head: Head) -> None:
        """Record what a subclass needs besides the logits."""

    @abstractmethod
    def end_task(self, task: int, head: Head) -> None:
        """Store the task's examples."""

    @abstractmethod
    def ledger(self, run: int) -> dict[str, Any]:
        """Everything held for one run: {"items", "parts": {name: {"floats", "bytes"}}}."""

    def recall(self, run: int) -> list[dict[str, Any]]:
        """Recall errors per task and age; a buffer that stores whole examples has none."""
        return []

    def _plan(self, position: Tensor, batch: int) -> dict[int, Capture]:
        """For each step that meets an example to keep: which one it is and its slot."""
        valid = self.kept_valid[-1]
        run, slot = valid.nonzero(as_tuple=True)
        position = position[run, slot]
        index = self.kept[-1][run, slot]
        label = self.stream.y[index]
        step = position // batch
        captures = {}
        for s in step.unique().tolist():
            at = (step == s).nonzero().squeeze(1)
            row = position[at] % batch
            captures[int(s)] = Capture(run[at], row, slot[at], index[at], label[at])
        return captures

    def replay_of(self, x: Tensor | None = None) -> Replay:
        """All kept examples with x [S, M, D], or with their features as they are."""
        index = torch.cat(self.kept, dim=1)
        logits = torch.cat(self.logits, dim=1) if self.wants_logits else None
        kept = index if x is None else None
        return Replay(
            lambda: self.gather(index) if x is None else x,
            self.stream.y[index],
            logits,
            self.slices(),
            self.all_valid(),
            kept,
        )

    def gather(self, index: Tensor) -> Tensor:
        """Pooled features of training images [S, m] -> [S, m, D], each run in its own view."""
        return torch.stack(
            [
                self.stream.features_of(run.seed)[row]
                for row, run in zip(index, self.runs, strict=True)
            ]
        )

    def slices(self) -> list[slice]:
        """Rows of each kept task within a replay that lines the tasks up."""
        ends = torch.tensor([k.shape[1] for k in self.kept]).cumsum(0).tolist()
        return [slice(end - k.shape[1], end) for end, k in zip(ends, self.kept, strict=True)]

    def all_valid(self) -> Tensor | None:
        """[S, M] bool over all kept tasks, or None when every row is an example."""
        valid = torch.cat(self.kept_valid, dim=1)
        return None if bool(valid.all()) else valid
