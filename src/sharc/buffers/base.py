"""What an episodic memory is: which examples of a task it keeps, and what it replays of them.

A buffer serves a stack of S runs. Which examples will still be there when a task ends follows
from the data order alone, so it is known when the task begins: only the few steps that meet such
an example are observed, all others cost nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.rules import RULES
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Replay
from sharc.errors import UserError, unknown


@dataclass(frozen=True)
class Hit:
    """The examples of one step that will be kept, k of them over all runs."""

    run: Tensor  # [k] which run of the stack
    row: Tensor  # [k] which row of its mini-batch
    slot: Tensor  # [k] which slot of its task's memory
    index: Tensor  # [k] which training image
    label: Tensor  # [k]


class Buffer(ABC):
    """Base of every episodic memory; a subclass says what it captures and what it gives back.

    The engine calls, per task: begin_task, then observe(step, ...) for each step in
    `self.hits` with the head BEFORE that step's update, then end_task. `self.replay` holds the
    past tasks' examples from the begin_task of the second task on.
    """

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: Mapping[str, Any],
        wants_logits: bool = False,
    ) -> None:
        self.stream = stream
        self.runs = list(runs)
        self.wants_logits = wants_logits
        self.rule = str(options.get("buffer_rule", "last"))
        if self.rule not in RULES:
            raise UserError(unknown("buffer_rule", self.rule, RULES))
        for run in self.runs:
            if run.buffer < stream.n_tasks:
                raise UserError(
                    f"buffer {run.buffer} is smaller than the {stream.n_tasks} tasks of"
                    f" {stream.name!r}: each task needs at least one slot; use a buffer of"
                    f" {stream.n_tasks} or more."
                )
        self.replay: Replay | None = None
        self.hits: dict[int, Hit] = {}
        self.kept: list[Tensor] = []  # per past task, training indices [S, m]
        self.kept_place: list[Tensor] = []  # per past task, positions in its order [S, m]
        self.kept_valid: list[Tensor] = []  # per past task, [S, m] bool

    def capacity(self, run: RunSpec) -> int:
        """Examples a task may keep: the buffer divided evenly over the tasks."""
        return run.buffer // self.stream.n_tasks

    def begin_task(self, task: int, head: Head, order: Tensor, batch: int) -> None:
        """Plan which of `order` [S, n] (training indices as they will be seen) to keep.

        A subclass that recalls does it here, after super().begin_task(...).
        """
        keep = [
            self.candidates(self.stream.y[row], run, task, batch).to(order.device)
            for row, run in zip(order, self.runs, strict=True)
        ]
        size = max(len(k) for k in keep)
        position = torch.stack([torch.cat([k, k[:1].expand(size - len(k))]) for k in keep])
        counts = torch.tensor([len(k) for k in keep], device=order.device)
        self.kept.append(order.gather(1, position))
        self.kept_place.append(position)
        self.kept_valid.append(
            torch.arange(size, device=order.device).expand(len(keep), -1) < counts[:, None]
        )
        self.allocate(task, size)
        self.hits = self._plan(position, batch) if self.observes else {}

    def candidates(self, labels: Tensor, run: RunSpec, task: int, batch: int) -> Tensor:
        """Positions in the task's order that may still be held when it ends, ascending."""
        size = min(self.capacity(run), len(labels))
        return RULES[self.rule](labels, size, run.seed, task, batch)

    @property
    def observes(self) -> bool:
        """Whether anything but the example itself must be captured when it is seen."""
        return self.wants_logits

    def allocate(self, task: int, size: int) -> None:
        """Make room for what `observe` captures of `size` examples per run (override)."""

    def observe(self, step: int, logits: Tensor | None, head: Head) -> None:
        """Capture what must be known from the moment an example is seen."""
        self.capture(self.hits[step], logits, head)

    def capture(self, hit: Hit, logits: Tensor | None, head: Head) -> None:
        """Keep what belongs to `hit`; logits [S, B, C] (None unless wanted) and
        head are those before the update.
        """

    @abstractmethod
    def end_task(self, task: int, head: Head) -> None:
        """Store the task's examples; set `self.replay` to those of all tasks so far."""

    @abstractmethod
    def ledger(self, run: int) -> dict[str, Any]:
        """Everything held for one run: {"items", "parts": {name: {"floats", "bytes"}}}."""

    def recall(self, run: int) -> list[dict[str, Any]]:
        """Recall errors per task and age; a buffer that stores whole examples has none."""
        return []

    def _plan(self, position: Tensor, batch: int) -> dict[int, Hit]:
        """For each step that meets an example to be kept, where it stands and where it goes."""
        valid = self.kept_valid[-1]
        run, slot = valid.nonzero(as_tuple=True)
        place = position[run, slot]
        index = self.kept[-1][run, slot]
        label = self.stream.y[index]
        step = place // batch
        hits = {}
        for s in step.unique().tolist():
            at = (step == s).nonzero().squeeze(1)
            hits[int(s)] = Hit(run[at], place[at] % batch, slot[at], index[at], label[at])
        return hits

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
