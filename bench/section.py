"""What one part of the benchmark hands over: tables, and measures by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.timing import Measure
from sharc.tables.render import pipes


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
        body = pipes(self.columns, self.rows)
        return "\n".join([f"### {self.title}", "", body, *([self.note, ""] if self.note else [])])


@dataclass
class Section:
    """One part of the benchmark."""

    name: str
    title: str
    tables: list[Table] = field(default_factory=list)
    measures: dict[str, Measure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)  # when, where and of what it was measured

    def json(self) -> dict[str, Any]:
        """Everything, for outputs/bench."""
        return {
            "name": self.name,
            "title": self.title,
            "tables": [vars(table) for table in self.tables],
            "measures": {name: m.json() for name, m in self.measures.items()},
            "notes": self.notes,
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
            list(content["notes"]),
            dict(content["about"]),
        )
