"""A "+" against the base that holds as many bytes in all, whatever budget both were given."""

import math
from dataclasses import dataclass

import pandas as pd

from sharc.results.cells import line_of
from sharc.results.folder import Results
from sharc.results.layout import Layout, Row
from sharc.results.statistics import difference
from sharc.results.tidy import cell_name

SLACK = 0.05  # bytes held may differ by this share and still count as equal
_KEYS = ("dataset", "backbone", "method", "variant", "buffer", "scenario")


@dataclass(frozen=True)
class EqualBase:
    """The base's buffer and cell, the bytes of "+" over its own, and the gain over it by seed."""

    buffer: int
    cell: str
    ratio: float
    gain: dict[int, float]


def equal_base(
    results: Results, layout: Layout, scenario: str, dataset: str, method: str, buffer: int
) -> EqualBase | None:
    """The base nearest in bytes to the "+" at `buffer`; None if none is near enough.

    A cell without a successful run has an unknown size and is never matched.
    """

    def line(size: int, *, plus: bool) -> pd.Series | None:
        return line_of(results, layout, scenario, dataset, Row(method, plus, size))

    plus = line(buffer, plus=True)
    bases = [found for size in layout.buffers if (found := line(size, plus=False)) is not None]
    if plus is None or not bases:
        return None
    base = min(bases, key=lambda one: abs(_ratio(plus, one) - 1))
    if abs(_ratio(plus, base) - 1) > SLACK:
        return None
    gain = difference(*(results.seeds("acc", *(one[key] for key in _KEYS)) for one in (plus, base)))
    return EqualBase(int(base["buffer"]), cell_name(base), _ratio(plus, base), gain)


def _ratio(plus: pd.Series, base: pd.Series) -> float:
    """Bytes over bytes, infinite if either side is not known."""
    ratio = float(plus["total_bytes"] / base["total_bytes"])
    return math.inf if math.isnan(ratio) else ratio
