"""The paper's table layout as data: which rows, which columns, which variant is the "+"."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from sharc.artifacts.runs import DENSE
from sharc.errors import UserError
from sharc.results import labels

SCENARIOS = tuple(labels.SCENARIOS)
GROUPS = ("main", "appendix")
SWEEP = 4  # fewer values of theta are the tables' own variants, not a sweep
COMPARED = {"gem": "class_il", "er": "task_il"}  # paper, Associative Memory Comparison
_NEEDED = ("main", "appendix", "datasets", "methods", "theta", "memory")


@dataclass(frozen=True)
class Row:
    """One line of a table: JOINT and SGD have no buffer."""

    method: str
    plus: bool
    buffer: int
    source: str = ""  # who computed it, if it was not us

    @property
    def label(self) -> str:
        """`ER`, `ER⁺` with SHARC, `ER (mammoth) †` from elsewhere."""
        name = labels.method(self.method) + (labels.PLUS if self.plus else "")
        return f"{name} ({self.source}) {labels.DAGGER}" if self.source else name

    @property
    def shaded(self) -> bool:
        """Our rows with SHARC stand out."""
        return self.plus and not self.source


@dataclass(frozen=True)
class Layout:
    """Buffers, data sets and methods to show; `theta` fixes the "+" variant per scenario."""

    main: tuple[int, ...]
    appendix: tuple[int, ...]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    theta: dict[str, float]
    memory: str
    backbone: str | None = None
    without_replay: tuple[str, ...] = labels.NAIVE
    compared: dict[str, str] = field(default_factory=COMPARED.copy)  # on which memories are

    @classmethod
    def of(cls, layout: dict[str, Any]) -> "Layout":
        """From the plain mapping a workflow passes, checked."""
        absent = [name for name in _NEEDED if name not in layout]
        absent += [f"theta.{name}" for name in SCENARIOS if name not in layout.get("theta", {})]
        if absent:
            raise UserError(f"the tables' layout lacks {', '.join(absent)}: see params.yaml.")
        listed = {name: tuple(layout[name]) for name in _NEEDED[:4]}
        return cls(
            **listed,
            theta={name: float(layout["theta"][name]) for name in SCENARIOS},
            memory=layout["memory"],
            backbone=layout.get("backbone"),
            without_replay=tuple(layout.get("without_replay", labels.NAIVE)),
            compared=dict((layout.get("memories") or {}).get("methods", COMPARED)),
        )

    def variant(self, scenario: str, *, plus: bool) -> str:
        """`dense`, or the one SHARC variant in this scenario's tables."""
        return labels.variant(self.memory, self.theta[scenario]) if plus else DENSE

    @property
    def buffers(self) -> tuple[int, ...]:
        """Every buffer size of the tables, ascending."""
        return tuple(sorted({*self.main, *self.appendix}))

    def backbone_of(self, frame: pd.DataFrame, dataset: str) -> str | None:
        """The backbone whose runs are shown for `dataset`; several need a choice."""
        if self.backbone is not None:
            return self.backbone
        found = sorted(frame.loc[frame["dataset"] == dataset, "backbone"].unique())
        if len(found) > 1:
            raise UserError(
                f"{dataset} has runs on several backbones ({', '.join(found)}): "
                "name one as `backbone` of the tables' layout."
            )
        return found[0] if found else None

    def plus_methods(self) -> list[str]:
        """The methods that have a "+" form, in the paper's order of rows."""
        order = list(labels.METHODS)
        return sorted(
            (name for name in self.methods if name not in self.without_replay),
            key=lambda name: order.index(name) if name in order else len(order),
        )

    def plain_methods(self) -> list[str]:
        """The methods that replay nothing: JOINT and SGD, then any others."""
        mine = [name for name in self.methods if name in self.without_replay]
        return sorted(mine, key=lambda name: (*labels.NAIVE, name).index(name))

    def levels(self) -> list[str]:
        """The methods without replay that figures show as lines: SGD, then any others."""
        return ["sgd", *(name for name in self.plain_methods() if name not in labels.NAIVE)]

    def rows(self, buffers: Sequence[int]) -> list[Row]:
        """What replays nothing first, then per buffer every method with its "+" below it."""
        plain = [Row(name, False, 0) for name in self.plain_methods()]
        return plain + [
            Row(name, plus, buffer)
            for buffer in buffers
            for name in self.plus_methods()
            for plus in (False, True)
        ]
