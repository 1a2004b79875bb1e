"""What one part of the benchmark hands over: tables, measures by name, and curves to draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.timing import Measure


@dataclass(frozen=True)
class Size:
    """How much is measured: `small` guards, `bench` is the default, `full` takes longer."""

    name: str
    rounds: int
    shares: Mapping[int, float]  # of Split CIFAR's training steps, by the number of classes
    grid_share: float  # the same for the cells of the grid; below 1 the rest is extrapolated


SIZES = {
    "small": Size("small", 3, {10: 0.1}, 0.0),
    "bench": Size("bench", 3, {10: 0.2, 100: 0.1}, 0.03),
    "full": Size("full", 5, {10: 1.0, 100: 1.0}, 1.0),
}


@dataclass
class Table:
    """Rows of text under a heading."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    note: str = ""

    def add(self, *cells: object) -> None:
        """Append a row."""
        self.rows.append([str(cell) for cell in cells])

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"### {self.title}", "", *_row(self.columns), "|" + "---|" * len(self.columns)]
        lines += [line for row in self.rows for line in _row(row)]
        return "\n".join([*lines, "", self.note, ""] if self.note else [*lines, ""])


def _row(cells: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(cells) + " |"]


@dataclass
class Curve:
    """Cost against size: one line of a growth plot."""

    axis: str
    label: str
    sizes: list[float]
    costs: list[float]
    exponent: float


@dataclass
class Section:
    """One part of the benchmark."""

    name: str
    title: str
    tables: list[Table] = field(default_factory=list)
    measures: dict[str, Measure] = field(default_factory=dict)
    curves: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    bars: dict[str, Measure] = field(default_factory=dict)  # drawn as one chart
    about: dict[str, str] = field(default_factory=dict)  # when, where and of what it was measured

    def json(self) -> dict[str, Any]:
        """Everything, for outputs/bench."""
        return {
            "name": self.name,
            "title": self.title,
            "tables": [vars(table) for table in self.tables],
            "measures": {name: m.json() for name, m in self.measures.items()},
            "curves": [vars(curve) for curve in self.curves],
            "notes": self.notes,
            "bars": {name: m.json() for name, m in self.bars.items()},
            "about": self.about,
        }

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> "Section":
        """The inverse of `json`."""
        return cls(
            content["name"],
            content["title"],
            [Table(**table) for table in content["tables"]],
            {name: Measure.parse(m) for name, m in content["measures"].items()},
            [Curve(**curve) for curve in content["curves"]],
            list(content["notes"]),
            {name: Measure.parse(m) for name, m in content["bars"].items()},
            dict(content["about"]),
        )
