"""The paper's tables with our numbers: per scenario, buffers and methods down, data sets across."""

from collections.abc import Iterator

import pandas as pd

from sharc.external.collected import note
from sharc.results import labels
from sharc.results.cells import Grid, grids
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.tables.render import Table

METRICS = {"acc": "ACC (↑)", "bwt": "BWT (↑)"}


def tables(results: Results, layout: Layout, _: Paper | None) -> Iterator[Table]:
    """{task_il,class_il}_{main,appendix}; a group without buffers has no table."""
    for grid in grids(results, layout):
        yield Table(
            grid.name,
            _numbers(grid),
            _text(grid),
            caption(grid),
            notes(grid, results),
            align="cl" + "cc" * len(grid.datasets),
            shaded=[row.shaded for row, _ in grid.rows],
        )


def caption(grid: Grid) -> str:
    """The paper's caption, about our runs."""
    runs = max((cell.n for _, cells in grid.rows for cell in cells), default=0)
    return (
        f"Our runs, {labels.scenario(grid.scenario)}: mean and standard deviation over {runs} "
        f"seeds, in percent. {labels.PLUS} denotes the method combined with SHARC."
    )


def notes(grid: Grid, results: Results) -> list[str]:
    """What a reader must know to read the numbers."""
    cells = [cell for _, cells in grid.rows for cell in cells if cell.name]
    found = []
    if {"mini_imagenet", "tiny_imagenet"} & set(grid.datasets):
        found.append(labels.THIRD_COLUMN_NOTE)
    if any(cell.n_missing for cell in cells):
        found.append(
            "(n=…): the number of successful runs, where some failed; missing: all failed. "
            "Failed runs are never averaged in."
        )
    if sources := {row.source for row, _ in grid.rows if row.source}:
        found.append(note(results.external, sources))
    return found


def _text(grid: Grid) -> pd.DataFrame:
    columns = [("", "Buffer"), ("", "Model")]
    columns += [(labels.dataset(name), METRICS[m]) for name in grid.datasets for m in METRICS]
    lines = [
        [str(row.buffer or "-"), row.label, *(cell.text(m) for cell in cells for m in METRICS)]
        for row, cells in grid.rows
    ]
    return pd.DataFrame(lines, columns=pd.MultiIndex.from_tuples(columns))


def _numbers(grid: Grid) -> pd.DataFrame:
    """One row per cell, and who computed it where not all are ours."""
    theirs = any(row.source for row, _ in grid.rows)
    lines = [
        {
            "scenario": grid.scenario, "dataset": name, "buffer": row.buffer,
            "method": row.method, "sharc": int(row.plus), "n": cell.n,
            "n_missing": cell.n_missing, "acc_mean": cell.acc.mean, "acc_sd": cell.acc.sd,
            "bwt_mean": cell.bwt.mean, "bwt_sd": cell.bwt.sd, "verdict": cell.verdict,
        } | ({"source": row.source} if theirs else {})
        for row, cells in grid.rows
        for name, cell in zip(grid.datasets, cells, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(lines)
