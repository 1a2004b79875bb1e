"""What the authors' code does differently from Algorithm 1: one override per group of switches.

Every override checks its switch, so that the ladder can change them one at a time. With all of them
set as in the paper, this buffer equals its base bit for bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.groups import Group, StoredExamples, fill, grouped
from sharc.buffers.selection import SEQUENTIAL_RULES, fit_to_budget
from sharc.buffers.sharc import SharcBuffer
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Replay
from sharc.errors import UserError
from sharc.memories.base import AssociativeMemory, Recalled
from sharc.options.methods import MethodOptions


@dataclass(frozen=True)
class WriteBatch:
    """Examples whose maps are written at once, perhaps among maps that are not stored."""

    examples: StoredExamples
    written: Tensor  # training indices; empty when nothing is written
    row: Tensor  # [n] of each example in `written`
    recalled: bool  # whether these examples are ever recalled


class ReferenceBuffer(SharcBuffer):
    """SHARC under any protocol but the paper's."""

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: MethodOptions,
        wants_logits: bool = False,
        **sharc: Any,
    ) -> None:
        super().__init__(stream, runs, options, wants_logits, **sharc)
        if self._costs_differ and self.rule not in SEQUENTIAL_RULES:
            raise UserError(
                f"buffer_rule {self.rule!r} needs examples that all cost the same, but budget_count"
                " nonzero and saliency relu_ge make them differ: use buffer_rule"
                f" {' or '.join(SEQUENTIAL_RULES)}."
            )

    # budget_count, saliency: what an example costs is known only once it has been met.

    @property
    def _costs_differ(self) -> bool:
        if self.sharc.budget == "total_bytes":
            return False
        return self.sharc.budget_count == "nonzero" or self.sharc.saliency == "relu_ge"

    def candidates(self, labels: Tensor, run: int, task: int, batch: int) -> Tensor:
        """The whole task, where the costs are not known yet."""
        if self._costs_differ:
            return torch.arange(len(labels))
        return super().candidates(labels, run, task, batch)

    def _admit(self) -> None:
        """Keep what the rule admits now that the costs are known, its rows moved to the front."""
        valid = self.kept_valid[-1]
        for run, budget in enumerate(self.budgets):
            costs = self._costs(run)
            admitted = fit_to_budget(self.rule, costs, budget.numbers, self._batch)
            valid[run] = torch.zeros_like(valid[run]).index_fill(0, admitted.to(valid.device), True)
        size = int(valid.sum(dim=1).max())
        order = (~valid).to(torch.uint8).argsort(dim=1, stable=True)[:, :size]  # [S, size]
        run_index = torch.arange(len(order), device=order.device)[:, None]
        held = (self.kept, self.kept_position, self.kept_valid, self.masks, self.logits)
        for column in held:
            column[-1] = column[-1][run_index, order]

    def _costs(self, run: int) -> Tensor:
        """Numbers that each candidate of the task costs, [m]."""
        kept = self.masks[-1][run]
        if self.sharc.budget_count == "kept":
            return kept.sum(dim=1) * self.shape.positions
        parts = self.kept[-1][run].split(256)
        nonzero = torch.cat([(self.maps(run, part) != 0).sum(dim=1) for part in parts])
        return (nonzero * kept).sum(dim=1)

    # recall, stored: when examples are recalled, and whether they are whole from then on.

    def begin_task(self, task: int, head: Head, order: Tensor, batch: int) -> None:
        """Note the order of the task, whose last batches may be treated differently."""
        super().begin_task(task, head, order, batch)
        self._order, self._batch = order, batch

    def _read(self, after: int) -> Replay:
        if self.sharc.recall == "task_start":
            replay = super()._read(after)
        else:
            replay = self.replay_of(torch.cat(self.known, dim=1))
        if self.sharc.stored == "recalled":
            self.known = [replay.x[:, rows] for rows in replay.task_slices]
            self.groups = [[] for _ in self.runs]  # whole from now on
        return replay

    def _recalled_floats(self, counts: list[int]) -> int:
        if self.sharc.stored == "masked":
            return 0
        return sum(self.shape.channels - kept for kept in counts) * self.shape.positions

    # write_scope, recall_scope, forget: what is written together, and what is ever recalled.

    def end_task(self, task: int, head: Head) -> None:
        """Drop what does not fit the budget, then store and write."""
        if self._costs_differ:
            self._admit()
        super().end_task(task, head)

    def _write(self, run: int, task: int, memory: AssociativeMemory) -> None:
        answers: list[tuple[Group, Recalled]] = []
        for batch in self._write_batches(run):
            groups = self._write_batch(run, task, batch, memory)
            self.groups[run] += groups
            if self.sharc.recall == "at_store":
                answers += self._recall(run, groups)
        fill(answers, self.known[-1][run], [slice(None)] * (task + 1))
        self._measure(run, answers, task)
        if self.sharc.forget == "task" and (task + 1) % self.sharc.forget_every == 0:
            memory.forget()

    def _write_batches(self, run: int) -> Iterator[WriteBatch]:
        """The task's examples as they are written together, those of the last batches in order.

        The authors' code writes a last batch whole, including what the buffer does not store.
        """
        examples, order, batch = self.stored(run), self._order[run], self._batch
        whole = self.sharc.write_scope == "last_batches"
        all_recalled = self.sharc.recall_scope == "all"
        last = -(-self.slots[run] // batch) * batch
        start = max(0, len(order) - last) if whole or not all_recalled else 0
        earlier = examples.subset(examples.position < start)
        if len(earlier.slots):
            written = earlier.index[:0] if whole else earlier.index
            yield WriteBatch(earlier, written, _count(earlier.slots), all_recalled)
        one_by_one = self.sharc.forget == "write" or self.sharc.recall == "at_store"
        step = batch if one_by_one else len(order)
        for at in range(start, len(order), step):
            here = examples.subset((examples.position >= at) & (examples.position < at + step))
            if whole:
                yield WriteBatch(here, order[at : at + step], here.position - at, True)
            elif len(here.slots):
                yield WriteBatch(here, here.index, _count(here.slots), True)

    def _write_batch(
        self, run: int, task: int, batch: WriteBatch, memory: AssociativeMemory
    ) -> list[Group]:
        """Write a batch's maps; return the groups of its examples that will be recalled."""
        examples = batch.examples
        first = self.n_written[run]
        self.n_written[run] += len(batch.written)
        if len(batch.written):
            written = self.maps(run, batch.written)
            if self.sharc.forget == "write":
                memory.forget()
            memory.write(written.flatten(1), self.stream.y[batch.written])
            maps = written[batch.row]
        else:
            maps = self.maps(run, examples.index)
        if not batch.recalled or not len(examples.slots):
            return []
        return list(grouped(task, examples, maps, first + batch.row))


def _count(rows: Tensor) -> Tensor:
    return torch.arange(len(rows), device=rows.device)
