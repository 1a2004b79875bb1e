"""The plan of a ladder: its rungs, its cells, and the rung whose runs hold a cell's numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sharc.artifacts.runs import DENSE
from sharc.errors import UserError
from sharc.results import labels

_NEEDED = ("buffer", "theta", "memory", "seeds", "backbone", "part", "rungs", "cells")


class Column(NamedTuple):
    """A column of the ladder: what is trained, whatever the switches say."""

    dataset: str
    method: str
    variant: str

    @property
    def plus(self) -> bool:
        """Whether the method is combined with SHARC."""
        return self.variant != DENSE

    @property
    def label(self) -> str:
        """`ER`, or `ER⁺` with SHARC."""
        return labels.method(self.method) + (labels.PLUS if self.plus else "")


class PlannedRung(NamedTuple):
    """One step: the switch that differs from the rung before; none at the reference."""

    number: int
    switch: str | None
    before: Any
    after: Any


@dataclass(frozen=True)
class LadderPlan:
    """From the preset `reference`, the first rung, to `paper`, the last, one switch at a time."""

    buffer: int
    theta: float
    memory: str
    backbone: str
    seeds: tuple[int, ...]
    part: Mapping[str, int | None]
    rungs: tuple[PlannedRung, ...]
    columns: tuple[Column, ...]
    runs_from: Mapping[tuple[int, Column], int]

    @classmethod
    def of(cls, layout: Mapping[str, Any]) -> "LadderPlan":
        """From the plain mapping a workflow passes, checked."""
        if absent := [name for name in _NEEDED if name not in layout]:
            raise UserError(f"the ladder's layout lacks {', '.join(absent)}: see params.yaml.")
        runs_from = {
            (cell["rung"], Column(*(cell[name] for name in Column._fields))): cell["runs_from"]
            for cell in layout["cells"]
        }
        ladder = cls(
            buffer=layout["buffer"],
            theta=float(layout["theta"]),
            memory=layout["memory"],
            backbone=layout["backbone"],
            seeds=tuple(layout["seeds"]),
            part=layout["part"] or {},
            rungs=tuple(
                PlannedRung(*(rung[name] for name in PlannedRung._fields))
                for rung in sorted(layout["rungs"], key=lambda rung: int(rung["number"]))
            ),
            columns=tuple(dict.fromkeys(column for _, column in runs_from)),
            runs_from=runs_from,
        )
        ladder._check()
        return ladder

    def _check(self) -> None:
        for rung in self.rungs:
            for column in self.columns:
                at = self.runs_from.get((rung.number, column))
                if at is None or at > rung.number:
                    raise UserError(
                        f"the ladder's layout gives rung {rung.number} of {'/'.join(column)} the "
                        f"runs of rung {at}: every rung needs its own runs or an earlier rung's."
                    )

    def reused(self, number: int, column: Column) -> bool:
        """Whether the cell does not read this rung's switch and repeats earlier runs."""
        return self.runs_from[number, column] < number

    @property
    def datasets(self) -> tuple[str, ...]:
        """In the order of the layout."""
        return tuple(dict.fromkeys(column.dataset for column in self.columns))

    def columns_of(self, dataset: str) -> list[Column]:
        """The methods of one data set, each with its "+" form after it."""
        mine = [column for column in self.columns if column.dataset == dataset]
        order = list(dict.fromkeys(column.method for column in mine))
        return sorted(mine, key=lambda column: (order.index(column.method), column.plus))

    @property
    def setting(self) -> str:
        """What all rungs share, in words."""
        return (
            f"buffer {self.buffer}, θ = {self.theta:g} in both scenarios, "
            f"{labels.memory(self.memory)}, backbone {self.backbone}, {len(self.seeds)} seeds, "
            f"{self._data}"
        )

    @property
    def _data(self) -> str:
        said = [
            f"{size} {what} images"
            for what, key in (("training", "train_images"), ("test", "test_images"))
            if (size := self.part.get(key)) is not None
        ]
        return f"{' and '.join(said)} of each data set" if said else "all images"
