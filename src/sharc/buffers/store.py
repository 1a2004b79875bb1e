"""What one run holds of its past tasks: kept channels in groups, and an associative memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.parts import Examples, Part, Seen
from sharc.buffers.quality import Yardstick, report
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.memories.base import AssociativeMemory, Cue, Recalled, Shape
from sharc.memories.cues import gathered, segments
from sharc.options import NoOptions


@dataclass(frozen=True)
class Group:
    """Examples of one class that share most of their kept channels."""

    task: int
    rows: Tensor  # slots within their task
    cue: Cue
    yardstick: Yardstick


class Store:
    """One run's kept channels and memory; a run that drops nothing has neither."""

    def __init__(
        self,
        stream: TaskStream,
        seed: int,
        theta: float,
        memory: type[AssociativeMemory],
        memory_options: NoOptions,
        sharc: Mapping[str, Any],
    ) -> None:
        self.stream, self.seed, self.sharc = stream, seed, sharc
        height, width = stream.map_size
        positions = 1 if sharc["space"] == "pooled" else height * width
        self.shape = Shape(positions, stream.n_features)
        self.memory: AssociativeMemory | None = None
        if theta > 0:
            x = stream.x
            self.memory = memory(self.shape, memory_options, seed, x.device, x.dtype)
        self._groups: list[Group] = []
        self._written = 0

    @property
    def _memory(self) -> AssociativeMemory:
        if self.memory is None:
            raise ValueError("a run that drops nothing has no memory")
        return self.memory

    def maps(self, index: Tensor) -> Tensor:
        """Maps [n, H·W, K] of training images, or their pooled vectors as maps of one position."""
        if self.sharc["space"] == "pooled":
            return self.stream.features_of(self.seed)[index].unsqueeze(1)
        kept = self.stream.maps_of(self.seed)
        if kept is None:
            raise UserError(
                f"the features of {self.stream.name!r} hold no maps: set features.maps_share to 1"
                " or sharc.space to pooled."
            )
        maps = kept.rows(index.to("cpu"))
        return maps.flatten(1, 2).to(self.stream.x)

    def nonzeros(self, index: Tensor, kept: Tensor) -> Tensor:
        """Non-zero entries among the kept channels of each image, [n]."""
        counts = [(self.maps(part) != 0).sum(dim=1) for part in index.split(256)]
        return (torch.cat(counts) * kept).sum(dim=1)

    def add(self, examples: Examples, known: Tensor, task: int, seen: Seen) -> list[dict[str, Any]]:
        """Write a task's examples, group them, and forget; errors of what is recalled at once."""
        if self.memory is None:
            return []
        found: list[tuple[Group, Recalled]] = []
        for part in self._parts(examples, seen):
            groups = self._write(part, task)
            self._groups += groups
            if groups and self.sharc["recall"] == "at_store":
                recalled = self._memory.recall_stored(
                    [g.cue for g in groups], int(self.sharc["watch"])
                )
                found += zip(groups, recalled, strict=True)
        _fill(found, known, [slice(None)] * (task + 1))
        if self.sharc["forget"] == "task" and (task + 1) % int(self.sharc["forget_every"]) == 0:
            self._memory.forget()
        return _reports(found, task)

    def _parts(self, examples: Examples, seen: Seen) -> Iterator[Part]:
        """The examples as they are written together, those of the last batches one by one.

        The authors' code writes a last batch whole, also what the buffer does not take of it.
        """
        whole = self.sharc["write_scope"] == "last_batches"
        to_all = self.sharc["recall_scope"] == "all"
        start = seen.last_from if whole or not to_all else 0
        old = examples.part(examples.seen_at < start)
        nothing = old.index[:0]
        if len(old.rows):
            yield Part(old, nothing if whole else old.index, _count(old.rows), to_all)
        by_batch = self.sharc["forget"] == "write" or self.sharc["recall"] == "at_store"
        step = seen.batch if by_batch else len(seen.order)
        for at in range(start, len(seen.order), step):
            here = (examples.seen_at >= at) & (examples.seen_at < at + step)
            part = examples.part(here)
            if whole:
                yield Part(part, seen.order[at : at + step], part.seen_at - at, recalled=True)
            elif len(part.rows):
                yield Part(part, part.index, _count(part.rows), recalled=True)

    def _write(self, part: Part, task: int) -> list[Group]:
        """Write a part's maps, and return the groups of its examples that will be recalled."""
        first = self._written
        examples = part.examples
        if len(part.written):
            maps = self.maps(part.written)
            if self.sharc["forget"] == "write":
                self._memory.forget()
            self._memory.write(maps.flatten(1), self.stream.y[part.written])
            self._written += len(maps)
            maps = maps[part.place]
        else:
            maps = self.maps(examples.index)
        if not part.recalled or not len(examples.rows):
            return []
        return list(self._grouped(examples, maps, first + part.place, task))

    def _grouped(self, part: Examples, maps: Tensor, serial: Tensor, task: int) -> Iterator[Group]:
        """One group per class, or several where masks drifted apart while the class was met."""
        for label in part.labels.unique().tolist():
            mine = (part.labels == label).nonzero().squeeze(1)
            for segment in segments(part.kept[mine], float(self.sharc["cue_share"])):
                at = mine[segment]
                cue = gathered(maps[at], part.kept[at], part.labels[at], serial[at])
                yardstick = Yardstick.of(maps[at], cue, int(self.sharc["watch"]))
                yield Group(task, part.rows[at], cue, yardstick)

    def recall_all(self, x: Tensor, slices: list[slice], after: int) -> list[dict[str, Any]]:
        """Fill in the dropped channels of x [M, K]; the error of each task's examples."""
        if self.memory is None:
            return []
        cues = [group.cue for group in self._groups]
        recalled = self._memory.recall_stored(cues, int(self.sharc["watch"]))
        found = list(zip(self._groups, recalled, strict=True))
        _fill(found, x, slices)
        if self.sharc["stored"] == "recalled":
            self._groups.clear()  # whole from now on
        return _reports(found, after)

    def n_floats(self) -> dict[str, int]:
        """Numbers the associative memory holds."""
        return {"weights": 0, "prior": 0} if self.memory is None else self.memory.n_floats()


def _count(rows: Tensor) -> Tensor:
    return torch.arange(len(rows), device=rows.device)


def _fill(found: list[tuple[Group, Recalled]], x: Tensor, slices: list[slice]) -> None:
    """Put recalled channels where x [M, K] has none; what was kept stays as it is."""
    for group, recalled in found:
        target = x[slices[group.task]]
        kept = group.cue.kept
        target[group.rows] = torch.where(kept, target[group.rows], recalled.pooled.to(x))


def _reports(found: list[tuple[Group, Recalled]], after: int) -> list[dict[str, Any]]:
    """One entry per task."""
    tasks: dict[int, list[tuple[Group, Recalled]]] = {}
    for group, recalled in found:
        tasks.setdefault(group.task, []).append((group, recalled))
    return [
        report([g.yardstick for g, _ in parts], [r for _, r in parts], task, after)
        for task, parts in sorted(tasks.items())
    ]
