"""Cells of the paper's tables with our numbers: one per row and data set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sharc.results.folder import Results
from sharc.results.layout import GROUPS, SCENARIOS, Layout, Row
from sharc.results.statistics import NOTHING, Estimate, estimate
from sharc.results.tidy import cell_name
from sharc.results.verdicts import direction


@dataclass(frozen=True)
class Cell:
    """One data set's part of a row: ACC and BWT over seeds, and the gain over the base."""

    name: str  # the cell's name in provenance.json; empty if the suite has no such cell
    n: int = 0
    n_missing: int = 0
    acc: Estimate = NOTHING
    bwt: Estimate = NOTHING
    gain: Estimate | None = None
    source: str = ""  # who computed it, if it was not us

    @property
    def verdict(self) -> str:
        """improves, worsens, undecided; empty for a base row."""
        return direction(self.gain)

    def text(self, metric: str) -> str:
        """`88.44 ± 1.11`; missing runs are noted."""
        if not self.name and not self.source:
            return "-"
        if self.n == 0:
            return "missing"
        found: Estimate = getattr(self, metric)
        if np.isnan(found.mean):
            return "n/a"
        text = f"{found.mean:.2f}" + ("" if np.isnan(found.sd) else f" ± {found.sd:.2f}")
        return f"{text} (n={self.n})" if self.n_missing else text


@dataclass(frozen=True)
class Grid:
    """One of the paper's tables: scenario, group of buffers, and per row one cell per data set."""

    scenario: str
    group: str
    datasets: tuple[str, ...]
    rows: list[tuple[Row, list[Cell]]]

    @property
    def name(self) -> str:
        """File name without ending: `task_il_main`."""
        return f"{self.scenario}_{self.group}"


def line_of(
    results: Results, layout: Layout, scenario: str, dataset: str, row: Row
) -> pd.Series | None:
    """The summary's line for one row and data set; None if this suite does not have it."""
    summary = results.summary
    backbone = layout.backbone_of(summary, dataset)
    found = summary[
        (summary["dataset"] == dataset)
        & (summary["backbone"] == backbone)
        & (summary["method"] == row.method)
        & (summary["variant"] == layout.variant(scenario, plus=row.plus))
        & (summary["buffer"] == row.buffer)
        & (summary["scenario"] == scenario)
    ]
    return None if found.empty else found.iloc[0]


def cell(results: Results, layout: Layout, scenario: str, dataset: str, row: Row) -> Cell:
    """Our cell for one row and data set, empty if this suite does not have it."""
    line = line_of(results, layout, scenario, dataset, row)
    if line is None:
        return Cell("")
    return Cell(
        cell_name(line),
        int(line["n"]),
        int(line["n_missing"]),
        _estimate(line, "acc", int(line["n"])),
        _estimate(line, "bwt", int(line["n"])),
        _estimate(line, "gain", int(line["gain_n"])) if row.plus else None,
    )


def _estimate(line: Any, name: str, n: int) -> Estimate:
    values = [float(line.get(f"{name}_{part}", np.nan)) for part in ("mean", "sd", "low", "high")]
    return Estimate(n, *values)


def grids(results: Results, layout: Layout) -> Iterator[Grid]:
    """The paper's tables, as far as the layout has buffers for them."""
    for scenario in SCENARIOS:
        for group in GROUPS:
            if buffers := getattr(layout, group):
                rows = list(_rows(results, layout, scenario, buffers))
                yield Grid(scenario, group, layout.datasets, rows)


def _rows(
    results: Results, layout: Layout, scenario: str, buffers: Sequence[int]
) -> Iterator[tuple[Row, list[Cell]]]:
    """Our rows buffer by buffer, and after each buffer's what others measured at it."""
    ours = layout.rows(buffers)
    for size in (0, *buffers):
        for row in ours:
            if row.buffer == size:
                yield row, [cell(results, layout, scenario, name, row) for name in layout.datasets]
        yield from _theirs(results, layout, scenario, size)


def _theirs(
    results: Results, layout: Layout, scenario: str, buffer: int
) -> Iterator[tuple[Row, list[Cell]]]:
    """One row per source and method that has runs at this buffer on the layout's data sets."""
    frame = results.external
    frame = frame[
        (frame["scenario"] == scenario)
        & (frame["buffer"] == buffer)
        & frame["dataset"].isin(layout.datasets)
    ]
    for (source, method), group in frame.groupby(["source", "method"], sort=False):
        row = Row(method.removesuffix("+"), method.endswith("+"), buffer, source)
        of = [group[group["dataset"] == dataset] for dataset in layout.datasets]
        yield row, [_their_cell(runs, source if len(runs) else "") for runs in of]


def _their_cell(runs: pd.DataFrame, source: str) -> Cell:
    acc, bwt = (estimate(runs[metric].astype(float).tolist()) for metric in ("acc", "bwt"))
    return Cell("", n=len(runs), acc=acc, bwt=bwt, source=source)
