"""The first screen in words: what was run, and what came out of it."""

from collections import Counter
from typing import Any

import pandas as pd

from sharc.registry import DATASETS, METHODS
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.labels import listed
from sharc.results.layout import SCENARIOS, Layout
from sharc.results.statistics import Pooled, difference, pooled
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED


def ran(results: Results, layout: Layout, backbone: str) -> str:
    """One sentence on what the suite trained."""
    seeds = results.runs["seed"].nunique()
    frozen = f", frozen backbone {backbone}" if backbone else ""
    return (
        f"{len(layout.plus_methods())} replay methods with and without SHARC on "
        f"{listed(labels.dataset(name) for name in layout.datasets)}, "
        f"buffers of {listed(map(str, layout.buffers))}, {seeds} seeds{frozen}."
    )


def sentences(results: Results, compared: pd.DataFrame, claims: dict[str, Any]) -> list[str]:
    """What the suite's gains and claims say, one sentence per scenario and one on the claims."""
    found = [_gain(results, compared, scenario) for scenario in SCENARIOS]
    return [sentence for sentence in [*found, _claims(claims)] if sentence]


def _gain(results: Results, compared: pd.DataFrame, scenario: str) -> str:
    here = compared[(compared["scenario"] == scenario) & compared["gain"].notna()]
    if here.empty:
        return ""
    rows = here.to_dict("records")
    of_all = pooled([_by_seed(results, row) for row in rows])
    verdicts = _verdicts(of_all)
    added = any(row["method"] not in METHODS or row["dataset"] not in DATASETS for row in rows)
    return (
        f"In {labels.scenario(scenario)}, of {of_all.cells} comparisons of a method with and "
        f"without SHARC{', your own included' if added else ''}, {verdicts}; the mean gain in ACC "
        f"is {_points(of_all)}."
    )


def _by_seed(results: Results, row: dict[str, Any]) -> dict[int, float]:
    """The gain of one row of the comparison, paired by seed."""
    plus, base = (
        results.seeds("acc", *row[side].split("/")[:4], row["buffer"], row["scenario"])
        for side in ("plus_cell", "cell")
    )
    return difference(plus, base)


def _verdicts(found: Pooled) -> str:
    undecided = found.cells - found.improved - found.worsened
    if undecided == found.cells:
        return "none is decided"
    return f"{found.improved} improve, {found.worsened} worsen and {undecided} are undecided"


def _points(found: Pooled) -> str:
    gain = found.gain
    mean = f"{labels.signed(gain.mean)} points"
    if pd.isna(gain.low):
        return mean
    return f"{mean} (95 % interval {labels.signed(gain.low)} to {labels.signed(gain.high)})"


def _claims(claims: dict[str, Any]) -> str:
    found = Counter(claim["verdict"] for claim in claims["claims"])
    tested = sum(found[verdict] for verdict in (REPRODUCED, NOT_REPRODUCED, UNDECIDED))
    if not tested:
        return ""
    return (
        f"Of the paper's {tested} sentences that this suite tests, {found[REPRODUCED]} are "
        f"reproduced, {found[NOT_REPRODUCED]} are not and {found[UNDECIDED]} are undecided."
    )
