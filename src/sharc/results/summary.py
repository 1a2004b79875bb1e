"""One row per cell and scenario: n, mean, sd, intervals, and the gain over the dense cell."""

from typing import Any

import pandas as pd

from sharc.artifacts.runs import DENSE
from sharc.results.records import CELL
from sharc.results.statistics import estimate, paired

SUMMARY_COLUMNS = (
    *CELL, "scenario", "n", "n_missing",
    "acc_mean", "acc_sd", "acc_low", "acc_high",
    "bwt_mean", "bwt_sd", "bwt_low", "bwt_high", "forgetting_mean",
    "items", "counted_floats", "total_bytes",
    "gain_mean", "gain_low", "gain_high", "gain_n",
    "bwt_gain_mean", "bwt_gain_low", "bwt_gain_high",
)  # fmt: skip
BASE = ["dataset", "backbone", "method", "buffer", "scenario"]


def by_seed(group: pd.DataFrame, metric: str) -> dict[int, float]:
    """The metric of every run that is ok, by seed."""
    ok = group[group["status"] == "ok"]
    return dict(zip(ok["seed"].astype(int), ok[metric].astype(float), strict=True))


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """Summary of runs.csv, cells in the order in which the grid lists them."""
    table = []
    dense = dict(iter(runs[runs["variant"] == DENSE].groupby(BASE, sort=False)))
    for _, group in runs.groupby([*CELL, "scenario"], sort=False, dropna=False):
        first = group.iloc[0]
        row = {name: first[name] for name in (*CELL, "scenario")} | _scores(group)
        if first["variant"] != DENSE:
            row |= _gains(group, dense.get(tuple(first[name] for name in BASE)))
        table.append(row)
    return pd.DataFrame(table, columns=list(SUMMARY_COLUMNS))


def _scores(group: pd.DataFrame) -> dict[str, Any]:
    ok = group[group["status"] == "ok"]
    row: dict[str, Any] = {"n": len(ok), "n_missing": len(group) - len(ok)}
    for metric in ("acc", "bwt"):
        row |= _spread(metric, ok[metric].astype(float).tolist(), sd=True)
    row["forgetting_mean"] = ok["forgetting"].astype(float).mean() if len(ok) else None
    for size in ("items", "counted_floats", "total_bytes"):
        row[size] = ok[size].astype(float).mean() if len(ok) else None
    return row


def _gains(group: pd.DataFrame, dense: pd.DataFrame | None) -> dict[str, Any]:
    """Differences of runs with the same seed; seeds that either side lacks do not count."""
    if dense is None:
        return {"gain_n": 0}
    gains = {
        metric: paired(by_seed(group, metric), by_seed(dense, metric)) for metric in ("acc", "bwt")
    }
    row = _spread("gain", gains["acc"]) | _spread("bwt_gain", gains["bwt"])
    return row | {"gain_n": len(gains["acc"])}


def _spread(name: str, values: list[float], *, sd: bool = False) -> dict[str, float]:
    found = estimate(values)
    row = {f"{name}_mean": found.mean, f"{name}_low": found.low, f"{name}_high": found.high}
    return row | ({f"{name}_sd": found.sd} if sd else {})


def metrics(summary: pd.DataFrame) -> dict[str, Any]:
    """Nested means for `dvc metrics show`: data set, method, variant, buffer, scenario."""
    tree: dict[str, Any] = {}
    levels = ["dataset", "method", "variant"]
    if summary["backbone"].nunique() > 1:  # else the level would say the same everywhere
        levels.insert(1, "backbone")
    for row in summary.to_dict("records"):
        scores = {
            name: round(row[f"{name}_mean"], 4)
            for name in ("acc", "bwt")
            if row["n"] and pd.notna(row[f"{name}_mean"])
        }
        node = tree
        for name in levels:
            node = node.setdefault(row[name], {})
        node.setdefault(f"b{row['buffer']}", {})[row["scenario"]] = scores
    return tree
