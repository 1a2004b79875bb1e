"""What one run holds of its past tasks: kept channels in groups, and an associative memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.quality import Yardstick, report
from sharc.engine.stream import Stream
from sharc.errors import UserError
from sharc.memories.base import Cue, Memory, Recalled, Shape, Trace
from sharc.memories.cues import gathered, segments


@dataclass(frozen=True)
class Examples:
    """n examples of a task: their slots, training indices, classes and masks."""

    rows: Tensor  # [n]
    index: Tensor  # [n]
    labels: Tensor  # [n]
    kept: Tensor  # [n, K] bool

    def part(self, rows: Tensor) -> "Examples":
        """Some of them."""
        return Examples(*(part[rows] for part in vars(self).values()))


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
        stream: Stream,
        seed: int,
        theta: float,
        memory: type[Memory],
        memory_options: Mapping[str, Any],
        sharc: Mapping[str, Any],
    ) -> None:
        self.stream, self.seed, self.sharc = stream, seed, sharc
        height, width = stream.map_size
        positions = 1 if sharc["space"] == "pooled" else height * width
        self.shape = Shape(positions, stream.n_features)
        self.memory: Memory | None = None
        if theta > 0:
            device, dtype, channels = stream.x.device, stream.x.dtype, stream.n_features
            size = self.shape.size
            self.memory = memory(1, size, memory_options, [seed], device, dtype, channels)
        self._groups: list[Group] = []
        self._written = 0

    @property
    def _memory(self) -> Memory:
        if self.memory is None:
            raise ValueError("a run that drops nothing has no memory")
        return self.memory

    @property
    def _trace(self) -> Trace:
        return self._memory.traces[0]

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

    def add(
        self, examples: Examples, known: Tensor, task: int, tail: tuple[int, int]
    ) -> list[dict[str, Any]]:
        """Write a task's examples, group them, and forget; errors of what is recalled at once.

        `tail`: the size of a batch, and how many examples count as those of the last batches.
        """
        if self.memory is None:
            return []
        found: list[tuple[Group, Recalled]] = []
        for part, last in self._parts(examples, tail):
            groups = self._write(part, last, task)
            self._groups += groups
            if groups and self.sharc["recall"] == "at_store":
                recalled = self._trace.recall([g.cue for g in groups], int(self.sharc["watch"]))
                found += zip(groups, recalled, strict=True)
        _fill(found, known, [slice(None)] * (task + 1))
        if self.sharc["forget"] == "task" and (task + 1) % int(self.sharc["forget_every"]) == 0:
            self._memory.forget(self._trace.erases)
        return _reports(found, task)

    def _parts(self, examples: Examples, tail: tuple[int, int]) -> Iterator[tuple[Examples, bool]]:
        """The examples as they are written together, and whether they are of the last batches."""
        batch, last = tail
        scopes = (self.sharc["recall_scope"], self.sharc["write_scope"])
        by_batch = self.sharc["forget"] == "write" or self.sharc["recall"] == "at_store"
        places = torch.arange(len(examples.rows), device=examples.rows.device)
        old = max(0, len(places) - last) if "last_batches" in scopes else 0
        if old:
            yield examples.part(places[:old]), False
        for part in places[old:].split(batch if by_batch else max(len(places), 1)):
            yield examples.part(part), True

    def _write(self, part: Examples, last: bool, task: int) -> list[Group]:
        """Write a part's maps, if its scope says so, and return its groups to be recalled."""
        maps = self.maps(part.index)
        first = self._written
        if last or self.sharc["write_scope"] == "stored":
            if self.sharc["forget"] == "write":
                self._memory.forget(self._trace.erases)
            self._trace.write(maps.flatten(1), part.labels)
            self._written += len(maps)
        if not last and self.sharc["recall_scope"] == "last_batches":
            return []
        return list(self._grouped(part, maps, first, task))

    def _grouped(self, part: Examples, maps: Tensor, first: int, task: int) -> Iterator[Group]:
        """One group per class, or several where masks drifted apart while the class was met."""
        for label in part.labels.unique().tolist():
            mine = (part.labels == label).nonzero().squeeze(1)
            for segment in segments(part.kept[mine], float(self.sharc["cue_share"])):
                at = mine[segment]
                cue = gathered(maps[at], part.kept[at], part.labels[at], first + at)
                yardstick = Yardstick.of(maps[at], cue, int(self.sharc["watch"]))
                yield Group(task, part.rows[at], cue, yardstick)

    def recall_all(self, x: Tensor, slices: list[slice], after: int) -> list[dict[str, Any]]:
        """Fill in the dropped channels of x [M, K]; the error of each task's examples."""
        if self.memory is None:
            return []
        cues = [group.cue for group in self._groups]
        recalled = self._trace.recall(cues, int(self.sharc["watch"]))
        found = list(zip(self._groups, recalled, strict=True))
        _fill(found, x, slices)
        return _reports(found, after)

    def n_floats(self) -> dict[str, int]:
        """Numbers the associative memory holds."""
        return {"weights": 0, "prior": 0} if self.memory is None else self.memory.n_floats()


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
