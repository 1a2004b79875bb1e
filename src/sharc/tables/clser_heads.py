"""CLS-ER's three heads side by side: the paper does not say which one its tables show."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from sharc.results import labels
from sharc.results.cells import Cell, cell
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout, Row
from sharc.results.paper import Paper
from sharc.results.statistics import estimate
from sharc.results.tidy import cell_name
from sharc.tables.render import Table

METHOD = "clser"
HEADS = ("working", "plastic", "stable")
_NOTES = [
    "ACC in percent, mean and standard deviation over seeds. Working: the head that is trained. "
    "Plastic, stable: moving averages of it, the plastic one updated more often.",
    "(n=…): the number of successful runs, where some failed; missing: all failed.",
]


def tables(results: Results, layout: Layout, _: Paper | None) -> Iterator[Table]:
    """One row per scenario, data set, buffer, with and without SHARC; nothing without CLS-ER."""
    if METHOD not in layout.methods:
        return
    others, used = _others(results.heads), used_head(results.heads)
    rows = [
        (scenario, dataset, row, _cells(shown, others, scenario, used))
        for scenario in SCENARIOS
        for dataset in layout.datasets
        for row in layout.rows(layout.buffers)
        if row.method == METHOD and (shown := cell(results, layout, scenario, dataset, row)).name
    ]
    if not rows:
        return
    heads = [name.capitalize() + (" (in the tables)" if name == used else "") for name in HEADS]
    yield Table(
        "clser_heads",
        pd.DataFrame([_numbers(*row, used) for row in rows]),
        pd.DataFrame([_texts(*row, heads) for row in rows]),
        f"CLS-ER's three heads. {f'All other tables show the {used} one.' if used else ''}".strip(),
        _NOTES,
        align="llrl" + "r" * len(HEADS),
        links=dict.fromkeys(heads, "cell"),
        title="CLS-ER's heads",
    )


def used_head(others: pd.DataFrame) -> str:
    """The head that a run's own accuracy is of: heads.csv holds the other two."""
    left = [name for name in HEADS if name not in set(others["head"])]
    return left[0] if len(left) == 1 else ""


def _others(frame: pd.DataFrame) -> dict[Any, list[float]]:
    """ACC over seeds by cell name, scenario and head."""
    named = frame.assign(cell=[cell_name(row) for row in frame.to_dict("records")])
    groups = named.groupby(["cell", "scenario", "head"], sort=False)["acc"]
    return {key: group.tolist() for key, group in groups}


def _cells(shown: Cell, others: dict[Any, list[float]], scenario: str, used: str) -> list[Cell]:
    """The cell of the tables under each of its heads."""
    planned = shown.n + shown.n_missing
    found = []
    for head in HEADS:
        acc = estimate(others.get((shown.name, scenario, head), []))
        other = replace(shown, n=acc.n, n_missing=planned - acc.n, acc=acc)
        found.append(shown if head == used else other)
    return found


def _numbers(scenario: str, dataset: str, row: Row, cells: list[Cell], used: str) -> dict[str, Any]:
    line: dict[str, Any] = {
        "scenario": scenario, "dataset": dataset, "buffer": row.buffer, "sharc": int(row.plus),
        "in_tables": used,
    }  # fmt: skip
    for head, one in zip(HEADS, cells, strict=True):
        line |= {f"{head}_mean": one.acc.mean, f"{head}_sd": one.acc.sd, f"{head}_n": one.n}
    return line | {"cell": cells[0].name}


def _texts(
    scenario: str, dataset: str, row: Row, cells: list[Cell], heads: list[str]
) -> dict[str, str]:
    return {
        "Scenario": labels.scenario(scenario),
        "Data set": labels.dataset(dataset),
        "Buffer": str(row.buffer),
        "Model": row.label,
        **{head: one.text("acc") for head, one in zip(heads, cells, strict=True)},
    }
