"""SHARC as an episodic memory: kept channels are stored, the others recalled (Algorithm 1).

Of each example only the channels salient for its class are held, so that about 1/(1 - theta)
as many fit where whole maps would lie. When a task ends their whole maps are written into an
associative memory; when the next begins, all examples of all past tasks are recalled from it.
A strategy cannot tell whether what it replays was stored whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.base import Buffer, Hit
from sharc.buffers.budget import FLOAT_BYTES, LABEL_BYTES, Budget, checked, index_bytes
from sharc.buffers.channels import Channels
from sharc.buffers.parts import Examples, Seen
from sharc.buffers.quality import hits
from sharc.buffers.rules import IN_ORDER, within
from sharc.buffers.store import Store
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Replay
from sharc.errors import UserError
from sharc.memories.base import AssociativeMemory, Shape
from sharc.options import NoOptions


class AssociativeBuffer(Buffer):
    """The "+" of every method. A run's theta is the share of channels dropped."""

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: Mapping[str, Any],
        wants_logits: bool = False,
        *,
        memory: type[AssociativeMemory],
        memory_options: NoOptions | None = None,
        sharc: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(stream, runs, options, wants_logits)
        self.sharc = checked(sharc or {})
        height, width = stream.map_size
        self.shape = Shape(height * width, stream.n_features)
        self.dense = height * width * stream.n_features
        self.thetas = [float(run.theta or 0) for run in self.runs]
        if self._costs_differ and self.rule not in IN_ORDER:
            raise UserError(
                f"buffer_rule {self.rule!r} needs examples that all cost the same, but budget_count"
                " nonzero and saliency relu_ge make them differ: use buffer_rule"
                f" {' or '.join(IN_ORDER)}."
            )
        self._stores = [
            Store(stream, run.seed, theta, memory, memory_options or memory.Options(), self.sharc)
            for run, theta in zip(self.runs, self.thetas, strict=True)
        ]
        self._channels = Channels(str(self.sharc["saliency"]), self.runs, self.thetas, stream)
        self._logits: list[Tensor] = []  # per task [S, m, C]
        self._masks: list[Tensor] = []  # per task [S, m, K] bool
        self._known: list[Tensor] = []  # per task [S, m, K] pooled, 0 where dropped
        self._quality: list[list[dict[str, Any]]] = [[] for _ in self.runs]
        self._budgets = [self._budget(run) for run in self.runs]
        self._capacities = [self._capacity(place) for place in range(len(self.runs))]

    def _budget(self, run: RunSpec) -> Budget:
        logits = self.stream.n_classes if self.wants_logits else 0
        tasks = self.stream.n_tasks
        return Budget(run.buffer // tasks, tasks, self.shape, self.dense, logits)

    def _capacity(self, place: int) -> int:
        budget, theta = self._budgets[place], self.thetas[place]
        memory = self._stores[place].memory
        if self.sharc["budget"] == "total_bytes" and memory is not None:
            return budget.by_total_bytes(theta, memory)
        return budget.by_samples(theta)

    def capacity(self, run: RunSpec) -> int:
        """Examples a task may keep where all cost the same."""
        return self._capacities[self.runs.index(run)]

    @property
    def _costs_differ(self) -> bool:
        if self.sharc["budget"] == "total_bytes":
            return False
        return bool({"nonzero", "relu_ge"} & {self.sharc["budget_count"], self.sharc["saliency"]})

    def candidates(self, labels: Tensor, run: RunSpec, task: int, batch: int) -> Tensor:
        """All of the task where what an example costs is known only when it has been met."""
        if self._costs_differ:
            return torch.arange(len(labels))
        return super().candidates(labels, run, task, batch)

    @property
    def observes(self) -> bool:
        """Logits, and masks when they are those of the step that meets an example."""
        by_batch = self.sharc["saliency_time"] == "batch" and any(self.thetas)
        return self.wants_logits or by_batch

    def allocate(self, task: int, size: int) -> None:
        """Room for logits and masks."""
        runs, x = len(self.runs), self.stream.x
        self._logits.append(x.new_zeros(runs, size, self.stream.n_classes * self.wants_logits))
        kept = torch.ones(runs, size, self.stream.n_features, dtype=torch.bool, device=x.device)
        self._masks.append(kept)
        self._channels.begin_task(task)

    def capture(self, hit: Hit, logits: Tensor | None, head: Head) -> None:
        """Keep the logits of the head that meets the examples, and its mask of their channels."""
        if self.wants_logits and logits is not None:
            self._logits[-1][hit.run, hit.slot] = logits[hit.run, hit.row]
        if self.sharc["saliency_time"] == "batch":
            self._masks[-1][hit.run, hit.slot] = self._channels.kept(hit.run, hit.label, head)

    def begin_task(self, task: int, head: Head, order: Tensor, batch: int) -> None:
        """Recall what is held of the tasks before; plan what to keep of this one."""
        if self.replay is not None:
            self._recall(self.replay, task - 1, head)
        super().begin_task(task, head, order, batch)
        self._batch, self._order = batch, order

    def _recall(self, held: Replay, after: int, head: Head) -> None:
        """Complete every example of every past task, and note how well that went."""
        x = torch.cat(self._known, dim=1)
        if self.sharc["recall"] == "task_start":
            for place, store in enumerate(self._stores):
                self._quality[place] += store.recall_all(x[place], held.task_slices, after)
        if self.sharc["stored"] == "recalled":
            self._known = [x[:, rows] for rows in held.task_slices]
        self.replay = replace(held, x=x)
        valid = torch.ones_like(held.y, dtype=torch.bool) if held.valid is None else held.valid
        right = hits(head, x, held.y) & valid
        for quality, mine, there in zip(self._quality, right, valid, strict=True):
            for entry in quality:
                rows = held.task_slices[entry["task"]]
                if entry["after"] == after:
                    entry["items"] = int(there[rows].sum())
                    entry["accuracy"] = 100.0 * int(mine[rows].sum()) / max(entry["items"], 1)

    def end_task(self, task: int, head: Head) -> None:
        """Store the task's kept channels, write its whole maps, forget if it is time."""
        if self.sharc["saliency_time"] == "task_end":
            run, slot = self.kept_valid[-1].nonzero(as_tuple=True)
            label = self.stream.y[self.kept[-1][run, slot]]
            self._masks[-1][run, slot] = self._channels.kept(run, label, head)
        self._trim()
        known = torch.where(self._masks[-1], self.gather(self.kept[-1]), 0)
        self._known.append(known)
        for place, store in enumerate(self._stores):
            rows = self.kept_valid[-1][place].nonzero().squeeze(1)
            index, kept = self.kept[-1][place, rows], self._masks[-1][place, rows]
            seen_at = self.kept_place[-1][place, rows]
            examples = Examples(rows, index, self.stream.y[index], kept, seen_at)
            last = -(-self._budgets[place].slots // self._batch)
            seen = Seen(self._order[place], self._batch, last)
            self._quality[place] += store.add(examples, known[place], task, seen)
        logits = torch.cat(self._logits, dim=1) if self.wants_logits else None
        y = self.stream.y[torch.cat(self.kept, dim=1)]
        x = torch.cat(self._known, dim=1)
        self.replay = Replay(x, y, logits, self.slices(), self.all_valid())

    def _trim(self) -> None:
        """Keep what the rule says now that the costs are known, its rows moved to the front."""
        if not self._costs_differ:
            return
        valid = self.kept_valid[-1]
        for place, budget in enumerate(self._budgets):
            costs, room = self._costs(place), budget.numbers
            held = within(self.rule, costs, room, self._batch).to(valid.device)
            valid[place] = torch.zeros_like(valid[place]).index_fill(0, held, True)
        size = int(valid.sum(dim=1).max())
        order = (~valid).to(torch.uint8).argsort(dim=1, stable=True)[:, :size]
        run = torch.arange(len(order), device=order.device)[:, None]
        for parts in (self.kept, self.kept_place, self.kept_valid, self._masks, self._logits):
            parts[-1] = parts[-1][run, order]

    def _costs(self, place: int) -> Tensor:
        """Numbers that each planned example of the task costs the run, [m]."""
        kept = self._masks[-1][place]
        if self.sharc["budget_count"] == "kept":
            return kept.sum(dim=1) * self.shape.positions
        return self._stores[place].nonzeros(self.kept[-1][place], kept)

    def maps_of(self, run: int, task: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Whole, stored and recalled maps [count, H·W, K] of a task's first examples."""
        index, kept = self.kept[task][run, :count], self._masks[task][run, :count]
        whole = self._stores[run].maps(index)
        stored = whole * kept[:, None, :]
        memory = self._stores[run].memory
        if memory is None:  # nothing was dropped
            return whole, stored, stored
        return (
            whole,
            stored,
            memory.recall(stored.flatten(1), kept, self.stream.y[index]).view_as(whole),
        )

    def ledger(self, run: int) -> dict[str, Any]:
        """Kept values, which channels they are, labels, logits, and the associative memory."""
        valid = torch.cat(self.kept_valid, dim=1)[run]
        kept = torch.cat(self._masks, dim=1)[run].sum(dim=1)[valid]
        items, values = len(kept), int(kept.sum()) * self.shape.positions
        whole = items * self.dense - values if self.sharc["stored"] == "recalled" else 0
        index = sum(index_bytes(self.shape.channels, k) for k in kept.tolist())
        floats = {"values": values, "logits": items * self._logits[0].shape[2], "recalled": whole}
        floats |= {f"memory_{k}": v for k, v in self._stores[run].n_floats().items()}
        parts = {k: {"floats": v, "bytes": v * FLOAT_BYTES} for k, v in floats.items()}
        parts["labels"] = {"floats": items, "bytes": items * LABEL_BYTES}
        parts["indices"] = {"floats": int(kept.sum()) if index else 0, "bytes": index}
        return {"items": items, "parts": parts}

    def recall(self, run: int) -> list[dict[str, Any]]:
        """Recall error per task and age."""
        return [entry for entry in self._quality[run] if "accuracy" in entry]
