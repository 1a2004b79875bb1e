"""What one part of the benchmark hands over: measures by name, and what is said of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bench.timing import Measure


@dataclass(frozen=True)
class Size:
    """How much is measured: `small` guards, `bench` is the page."""

    name: str
    rounds: int
    share: float  # of Split CIFAR's training steps
    grid_share: float  # the same for the cells of the grid; the rest is extrapolated

    @property
    def small(self) -> bool:
        """For the guard."""
        return self.name == "small"


SIZES = {"small": Size("small", 3, 0.1, 0.0), "bench": Size("bench", 3, 1.0, 0.03)}


@dataclass
class Section:
    """One part of the benchmark."""

    measures: dict[str, Measure] = field(default_factory=dict)
    profiles: dict[str, str] = field(default_factory=dict)  # by measure, where its time goes
    notes: list[str] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)  # when, where and of what it was measured

    def json(self) -> dict[str, Any]:
        """Everything, for outputs/bench."""
        return asdict(self)

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> "Section":
        """The inverse of `json`."""
        measures = {name: Measure(**found) for name, found in content["measures"].items()}
        return cls(**{**content, "measures": measures})
