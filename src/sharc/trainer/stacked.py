"""Runs that share their shapes, advancing in lock-step through all tasks."""

import logging
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.base import Buffer
from sharc.engine.runs import Accuracies, RunResult, RunSpec
from sharc.engine.sampling import task_order
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Batch
from sharc.options.methods import MethodOptions
from sharc.randomness import generator
from sharc.strategies.base import Strategy
from sharc.trainer.batches import BatchPlan
from sharc.trainer.evaluate import evaluate
from sharc.trainer.heads import initial_head

MAIN = "main"
LOOKAHEAD = 8  # steps whose new rows meet the whole memory in one product; one step's is too thin
PASS_BATCH = 32  # examples at a time when a task is passed over again
log = logging.getLogger(__name__)


class StackedTrainer:
    """One strategy on S runs; `train` takes them through the stream."""

    def __init__(
        self,
        stream: TaskStream,
        runs: list[RunSpec],
        strategy_class: type[Strategy],
        options: MethodOptions,
        buffer: Buffer | None,
    ) -> None:
        self.stream, self.runs, self.buffer = stream, runs, buffer
        generators = [generator(run.seed, "init") for run in runs]
        self.head = initial_head(generators, stream, strategy_class, options)
        self.strategy = strategy_class(self.head, runs, options)
        self.strategy.classes = stream.classes
        self.batch = options.batch
        self.matrices: dict[str, Tensor] = {}  # per head [2, S, T, T]
        self.messages: dict[int, str] = {}  # of the runs that diverged
        self.untrained = evaluate(stream, self.head, stream.n_tasks, runs, trained=0)

    def train(self) -> list[RunResult]:
        """All tasks in sequence, or all at once at the end for a joint strategy."""
        last = self.stream.n_tasks - 1
        for task in range(self.stream.n_tasks):
            if self.strategy.joint and task < last:
                continue
            if self.strategy.joint:
                self._train_joint()
            else:
                self._train_task(task)
            self._check_finite(task)
            self._record(task)
        return [self._result(run) for run in range(len(self.runs))]

    def _train_joint(self) -> None:
        examples = torch.cat(self.stream.train_tasks)
        order = torch.stack([task_order(run.seed, "joint", examples) for run in self.runs])
        steps = BatchPlan(self.stream, self.runs, self.head, order, self.batch)
        self.strategy.begin_task(0, None, -(-len(examples) // self.batch))
        with torch.inference_mode():
            for batch in steps.plain():
                self.strategy.step(batch)

    def _train_task(self, task: int) -> None:
        examples = self.stream.train_tasks[task]
        order = torch.stack([task_order(run.seed, task, examples) for run in self.runs])
        order = order[:, : len(examples) // self.batch * self.batch]  # drop the last, partial one
        replay = None
        if self.buffer is not None:
            self.buffer.begin_task(task, self.head, order, self.batch)
            replay = self.buffer.replay
        self.strategy.begin_task(task, replay, order.shape[1] // self.batch)
        with torch.inference_mode():
            for step, batch in enumerate(self._batches(task, order)):
                self._observe(step, batch)
                self.strategy.step(batch)
        self.strategy.flush()
        again = BatchPlan(self.stream, self.runs, self.head, order, PASS_BATCH)
        self.strategy.end_task(task, again.plain)
        if self.buffer is not None:
            self.buffer.end_task(task, self.head)

    def _observe(self, step: int, batch: Batch) -> None:
        """Show the buffer the head's output, before this step, for the examples it will keep."""
        if self.buffer is not None and step in self.buffer.captures:
            self.strategy.flush()
            wants = self.buffer.wants_logits
            logits = self.head.logits(batch.x[:, : batch.n_new]) if wants else None
            with torch.inference_mode(False), torch.no_grad():  # a memory may use autograd later
                self.buffer.observe(step, logits, self.head)

    def _batches(self, task: int, order: Tensor) -> Iterator[Batch]:
        steps = BatchPlan(self.stream, self.runs, self.head, order, self.batch)
        replay = None if self.buffer is None else self.buffer.replay
        if replay is None or self.strategy.replays != "sampled":
            return steps.plain(1 if replay is None else LOOKAHEAD)
        size = self.strategy.options.replay_batch
        return steps.sampled(replay, task, self.strategy.draws, size)

    def _check_finite(self, task: int) -> None:
        """Stop runs whose weights are no longer finite; the others do not notice."""
        for run in (~self.head.finite()).nonzero().flatten().tolist():
            for head in (self.head, *self.strategy.heads().values()):
                head.reset(run)
            if run in self.messages:
                continue
            spec = self.runs[run]
            self.messages[run] = (
                f"{self.strategy.name} diverged in task {task + 1}: seed {spec.seed}, buffer"
                f" {spec.buffer}, learning rate {self.strategy.rate:g}; {self.strategy.remedy()}."
            )
            log.warning(self.messages[run])

    def _record(self, task: int) -> None:
        """Evaluate every seen task with every head the strategy has, like ones in one go."""
        heads = {MAIN: self.strategy.evaluated(), **self.strategy.heads()}
        drifts = self.stream.drifting is not None
        for kept in (False, True):
            names = [
                n for n in heads if (drifts and self.strategy.keeps_statistics(heads[n])) == kept
            ]
            if not names:
                continue
            joined = type(self.head).joined([heads[name] for name in names])
            runs, trained = self.runs * len(names), 0 if kept else task + 1
            accuracy = evaluate(self.stream, joined, task + 1, runs, trained)
            for name, part in zip(names, accuracy.chunk(len(names), dim=1), strict=True):
                self._note(name, task, part)

    def _note(self, name: str, task: int, accuracy: Tensor) -> None:
        """A row of a head's matrices; a run that has diverged has none."""
        t = self.stream.n_tasks
        empty = torch.full((2, len(self.runs), t, t), torch.nan, dtype=torch.float64)
        matrix = self.matrices.setdefault(name, empty)
        matrix[:, :, task, : task + 1] = accuracy
        for run in self.messages:
            matrix[:, run, task] = torch.nan

    def _result(self, run: int) -> RunResult:
        matrices = {
            name: Accuracies(*(m.numpy().copy() for m in matrix[:, run]))
            for name, matrix in self.matrices.items()
        }
        class_il, task_il = self.untrained[:, run].tolist()
        return RunResult(
            spec=self.runs[run],
            accuracy=matrices.pop(MAIN),
            untrained={"class_il": class_il, "task_il": task_il},
            heads=matrices,
            ledger=self._ledger(run),
            recall=[] if self.buffer is None else self.buffer.recall(run),
            status="diverged" if run in self.messages else "ok",
            message=self.messages.get(run),
        )

    def _ledger(self, run: int) -> dict[str, Any]:
        empty: dict[str, Any] = {"items": 0, "parts": {}}
        held = empty if self.buffer is None else self.buffer.ledger(run)
        parts = dict(held["parts"])
        size = self.head.b.element_size()
        for name, floats in self.strategy.held_floats().items():
            parts[name] = {"floats": floats, "bytes": floats * size}
        return {
            "items": held["items"],
            "parts": parts,
            "counted_floats": parts.get("values", {"floats": 0})["floats"],
            "total_bytes": sum(part["bytes"] for part in parts.values()),
        }
