"""What a check answers, for our runs and for the paper's own numbers."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from sharc.results import verdicts
from sharc.results.statistics import Estimate
from sharc.results.verdicts import NOT_TESTED

SUPPORTS, DOES_NOT_SUPPORT = "supports", "does not support"


@dataclass(frozen=True)
class Finding:
    """A verdict with the sentence and the figures it rests on."""

    verdict: str
    text: str
    figures: dict[str, Any] = field(default_factory=dict)
    cells: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain values; numbers that do not exist become null."""
        content = asdict(self)
        content["figures"] = {name: _plain(value) for name, value in self.figures.items()}
        return content


def not_tested(why: str) -> Finding:
    """This suite lacks what the check needs."""
    return Finding(NOT_TESTED, why)


def interval(found: Estimate, unit: str = "points") -> str:
    """An estimate in words."""
    return verdicts.interval(found.mean, found.low, found.high, unit)


def figures(found: Estimate, name: str = "gain") -> dict[str, Any]:
    """The numbers of an estimate, named."""
    return {f"{name}_{key}": value for key, value in asdict(found).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else round(float(value), 6)
    return int(value) if isinstance(value, np.integer) else value
