"""SHARC as an episodic memory: Algorithm 1 of the paper, for any method that replays.

Line numbers refer to Algorithm 1. Of each example only the channels salient for its class are
stored, so about 1/(1 - theta) times as many fit into the budget. A method cannot tell whether
what it replays was stored whole or recalled. `reference.py` has what the authors' code does
differently.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.base import Buffer, Capture
from sharc.buffers.budget import Budget, ledger_parts
from sharc.buffers.groups import N_PROBE, Group, StoredExamples, fill, grouped
from sharc.buffers.masks import ChannelMasks
from sharc.buffers.recall_error import add_accuracy, errors_by_task
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Replay
from sharc.errors import UserError
from sharc.memories.base import AssociativeMemory, Recalled, Shape
from sharc.options.base import NoOptions
from sharc.options.methods import MethodOptions
from sharc.options.storage import StorageOptions


class SharcBuffer(Buffer):
    """The "+" of every method. A run's theta is the share of channels dropped (the paper's μ)."""

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: MethodOptions,
        wants_logits: bool = False,
        *,
        memory: type[AssociativeMemory],
        memory_options: NoOptions | None = None,
        sharc: StorageOptions | None = None,
    ) -> None:
        super().__init__(stream, runs, options, wants_logits)
        self.sharc = sharc or StorageOptions()
        self.shape = Shape(self.n_positions, stream.n_features)
        size = Shape(1, stream.n_features) if self.sharc.space == "pooled" else self.shape
        self.thetas = [float(run.theta or 0) for run in self.runs]
        self.memories = [
            memory(size, memory_options, run.seed, stream.x.device, stream.x.dtype)
            if theta
            else None
            for run, theta in zip(self.runs, self.thetas, strict=True)
        ]
        self.budgets = [Budget(m, stream.n_tasks, self.shape, self.n_logits) for m in self.slots]
        self.capacities = [self._capacity(run) for run in range(len(self.runs))]
        self.salient = ChannelMasks(self.sharc.saliency, self.runs, self.thetas, stream)
        self.masks: list[Tensor] = []  # line 1: per task [S, m, K] bool, the channels kept
        self.known: list[Tensor] = []  # and [S, m, K], their means over positions, 0 where dropped
        self.groups: list[list[Group]] = [[] for _ in self.runs]  # the kept maps, to be recalled
        self.n_written = [0 for _ in self.runs]
        self.errors: list[list[dict[str, Any]]] = [[] for _ in self.runs]

    def begin_task(self, task: int, head: Head, order: Tensor, batch: int) -> None:
        """Line 3, the read; then plan which examples of this task to store."""
        if task > 0:
            self.replay = self._read(task - 1)
            add_accuracy(self.errors, head, self.replay, task - 1)
        super().begin_task(task, head, order, batch)
        whole = torch.ones(*self.kept[-1].shape, self.shape.channels, dtype=torch.bool)
        self.masks.append(whole.to(order.device))
        self.salient.begin_task(task)

    def _read(self, after: int) -> Replay:
        """Recall every example of every past task from its kept channels."""
        x = torch.cat(self.known, dim=1)  # [S, M, K]
        for run in range(len(self.runs)):
            answers = self._recall(run, self.groups[run])
            fill(answers, x[run], self.slices())
            self._measure(run, answers, after)
        return self.replay_of(x)

    def capture(self, capture: Capture, head: Head) -> None:
        """Lines 7 and 8: the mask of the examples to store, by the head that meets them."""
        kept = self.salient.kept(capture.run, capture.index, head)
        self.masks[-1][capture.run, capture.slot] = kept

    def end_task(self, task: int, head: Head) -> None:
        """Line 9, store the kept channels; lines 12 to 15, write the whole maps and forget."""
        self.known.append(torch.where(self.masks[-1], self.gather(self.kept[-1]), 0))
        for run, memory in enumerate(self.memories):
            if memory is not None:
                self._write(run, task, memory)

    def _write(self, run: int, task: int, memory: AssociativeMemory) -> None:
        examples = self.stored(run)
        maps = self.maps(run, examples.index)
        write_index = self.n_written[run] + torch.arange(len(maps), device=maps.device)
        self.n_written[run] += len(maps)
        self.groups[run] += grouped(task, examples, maps, write_index)
        memory.write(maps.flatten(1), examples.labels)  # line 12
        if (task + 1) % self.sharc.forget_every == 0:  # line 13
            memory.forget()  # line 14

    def _recall(self, run: int, groups: list[Group]) -> list[tuple[Group, Recalled]]:
        memory = self.memories[run]
        if memory is None or not groups:  # theta 0: nothing was dropped
            return []
        recalled = memory.recall_stored([group.cue for group in groups], N_PROBE)
        return list(zip(groups, recalled, strict=True))

    def _measure(self, run: int, answers: list[tuple[Group, Recalled]], after: int) -> None:
        self.errors[run] += errors_by_task([(g.task, g.probe, r) for g, r in answers], after)

    def stored(self, run: int, task: int = -1) -> StoredExamples:
        """The examples that a run keeps of a task."""
        slots = self.kept_valid[task][run].nonzero().squeeze(1)
        index, position = self.kept[task][run, slots], self.kept_position[task][run, slots]
        return StoredExamples(
            slots, index, self.stream.y[index], self.masks[task][run, slots], position
        )

    def maps(self, run: int, index: Tensor) -> Tensor:
        """Maps [n, H·W, K] of training images, or their pooled vectors as maps of one position."""
        seed = self.runs[run].seed
        if self.sharc.space == "pooled":
            return self.stream.features_of(seed)[index].unsqueeze(1)
        cached = self.stream.maps_of(seed)
        if cached is None:
            raise UserError(
                f"the features of {self.stream.name!r} hold no maps: set features.maps_share to 1"
                " or sharc.space to pooled."
            )
        return cached.rows(index.to("cpu")).flatten(1, 2).to(self.stream.x)

    def _capacity(self, run: int) -> int:
        """Examples a task may store: m whole maps' worth of kept channels."""
        memory = self.memories[run]
        if self.sharc.budget == "total_bytes" and memory is not None:
            return self.budgets[run].by_total_bytes(self.thetas[run], memory)
        return self.budgets[run].by_samples(self.thetas[run])

    @property
    def observes(self) -> bool:
        """Whether the head that meets an example must be seen: for its logits or its mask."""
        return self.wants_logits or any(self.thetas)

    def ledger(self, run: int) -> dict[str, Any]:
        """Count kept values, which channels they are, labels, logits and the memory."""
        kept = torch.cat([self.stored(run, task).kept for task in range(len(self.kept))])
        counts = kept.sum(dim=1).tolist()
        memory = self.memories[run]
        held = {"weights": 0, "prior": 0} if memory is None else memory.n_floats()
        recalled = self._recalled_floats(counts)
        return ledger_parts(self.shape, counts, self.n_logits, recalled, held)

    def _recalled_floats(self, counts: list[int]) -> int:
        return 0  # recalled channels are replayed, never stored

    def recall(self, run: int) -> list[dict[str, Any]]:
        """Recall error per task and age."""
        return [record for record in self.errors[run] if "accuracy" in record]
