"""The paper's number, ours, the difference, and whether each "+" points the same way."""

from typing import Any

import pandas as pd

from sharc.results.cells import Cell, cell
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout, Row
from sharc.results.paper import Paper, PaperCell
from sharc.results.statistics import NAN
from sharc.results.verdicts import agreement, printed_direction

GAIN = ("gain", "gain_low", "gain_high")
COLUMNS = (
    "scenario", "dataset", "buffer", "method", "n", "n_missing",
    "paper_acc", "our_acc", "difference",
    "paper_plus_acc", "our_plus_acc", "plus_difference",
    "plus_n", "plus_n_missing",
    "paper_gain", "gain", "gain_low", "gain_high", "verdict", "paper_direction", "agreement",
    "paper_bwt", "our_bwt", "paper_plus_bwt", "our_plus_bwt", "cell", "plus_cell",
)  # fmt: skip


def compare(results: Results, layout: Layout, paper: Paper) -> pd.DataFrame:
    """One row per scenario, data set, buffer and method that this suite has."""
    lines = [
        line
        for scenario in SCENARIOS
        for dataset in layout.datasets
        for row in layout.rows(layout.buffers)
        if not row.plus
        and (line := _line(results, layout, paper, scenario, dataset, row)) is not None
    ]
    return pd.DataFrame(lines, columns=list(COLUMNS))


def _line(
    results: Results, layout: Layout, paper: Paper, scenario: str, dataset: str, row: Row
) -> dict[str, Any] | None:
    base = cell(results, layout, scenario, dataset, row)
    plus = cell(results, layout, scenario, dataset, Row(row.method, True, row.buffer))
    if not base.name and not plus.name:
        return None
    entry = (scenario, dataset, row.method, row.buffer)
    printed = paper.cell(*entry, plus=False)
    line = {
        "scenario": scenario, "dataset": dataset, "buffer": row.buffer, "method": row.method,
        "cell": base.name, **_numbers("", base, printed),
    }  # fmt: skip
    if plus.name:
        line |= _plus(plus, paper, entry)
    return line


def _numbers(kind: str, ours: Cell, printed: PaperCell | None) -> dict[str, float]:
    acc = NAN if printed is None else printed.acc_mean
    return {
        f"paper_{kind}acc": acc,
        f"our_{kind}acc": ours.acc.mean,
        f"{kind}difference": ours.acc.mean - acc,
        f"paper_{kind}bwt": NAN if printed is None else printed.bwt_mean,
        f"our_{kind}bwt": ours.bwt.mean,
        f"{kind}n": ours.n,
        f"{kind}n_missing": ours.n_missing,
    }


def _plus(plus: Cell, paper: Paper, entry: tuple[str, str, str, int]) -> dict[str, Any]:
    printed = paper.gain(*entry)
    direction = printed_direction(printed)
    gain = plus.gain
    return {
        **_numbers("plus_", plus, paper.cell(*entry, plus=True)),
        "paper_gain": NAN if printed is None else printed.mean,
        "gain": NAN if gain is None else gain.mean,
        "gain_low": NAN if gain is None else gain.low,
        "gain_high": NAN if gain is None else gain.high,
        "verdict": plus.verdict,
        "paper_direction": direction,
        "agreement": agreement(plus.verdict, direction),
        "plus_cell": plus.name,
    }
