"""The paper's number, ours, the difference, and whether each "+" points the same way."""

from typing import Any

import numpy as np
import pandas as pd

from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout, Row
from sharc.results.paper import Paper, PaperCell
from sharc.results.statistics import NAN
from sharc.results.verdicts import agreement, printed_direction
from sharc.tables.main import Cell, cell

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
    place = (scenario, dataset, row.method, row.buffer)
    printed = paper.cell(*place, plus=False)
    line = {
        "scenario": scenario, "dataset": dataset, "buffer": row.buffer, "method": row.method,
        "cell": base.name, **_numbers("", base, printed),
    }  # fmt: skip
    if plus.name:
        line |= _plus(plus, paper, place)
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


def _plus(plus: Cell, paper: Paper, place: tuple[str, str, str, int]) -> dict[str, Any]:
    printed = paper.gain(*place)
    direction = printed_direction(printed)
    gain = plus.gain
    return {
        **_numbers("plus_", plus, paper.cell(*place, plus=True)),
        "paper_gain": NAN if printed is None else printed.mean,
        "gain": NAN if gain is None else gain.mean,
        "gain_low": NAN if gain is None else gain.low,
        "gain_high": NAN if gain is None else gain.high,
        "verdict": plus.verdict,
        "paper_direction": direction,
        "agreement": agreement(plus.verdict, direction),
        "plus_cell": plus.name,
    }


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The comparison as text, with the heads people read."""
    lines = frame.to_dict("records")
    pick = {
        "Scenario": frame["scenario"].map(labels.scenario),
        "Data set": frame["dataset"].map(labels.dataset),
        "Buffer": frame["buffer"].map(lambda size: "-" if size == 0 else str(size)),
        "Method": frame["method"].map(labels.method),
        "Paper": frame["paper_acc"].map(_plain),
        "Ours": [_ours(line, "") for line in lines],
        "Diff.": frame["difference"].map(_signed),
        f"Paper {labels.PLUS}": frame["paper_plus_acc"].map(_plain),
        f"Ours {labels.PLUS}": [_ours(line, "plus_") for line in lines],
        f"Diff. {labels.PLUS}": frame["plus_difference"].map(_signed),
        "Paper gain": frame["paper_gain"].map(_signed),
        "Our gain [95 %]": [gain_text(line) for line in lines],
        "Our verdict": frame["verdict"].fillna("").replace("", "-"),
        "Paper says": frame["paper_direction"].fillna("").replace("", "-"),
    }
    return pd.DataFrame(pick)


def gain_text(line: dict[str, Any]) -> str:
    """`+1.20 [+0.40, +2.10]`."""
    if pd.isna(line["gain"]):
        return "-"
    text = labels.signed(line["gain"])
    if pd.isna(line["gain_low"]):
        return text
    return f"{text} [{labels.signed(line['gain_low'])}, {labels.signed(line['gain_high'])}]"


def _ours(line: dict[str, Any], kind: str) -> str:
    """`91.20`, with the number of seeds where some are missing; all missing is said."""
    lost = line[f"{kind}n_missing"] > 0
    if lost and not line[f"{kind}n"]:
        return "missing"
    text = _plain(line[f"our_{kind}acc"])
    return f"{text} (n={line[f'{kind}n']:.0f})" if lost else text


def _plain(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else labels.signed(value)
