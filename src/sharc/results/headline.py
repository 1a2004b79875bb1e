"""A suite in a dozen numbers and two small tables: what `dvc metrics`, `exp` and `plots` show."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sharc.artifacts.runs import DENSE
from sharc.results.layout import SCENARIOS

PLAIN, SHARC = "plain", "with SHARC"
_CELL = ["dataset", "backbone", "method", "buffer", "scenario"]


def shown(cells: pd.DataFrame, memory: str, theta: Mapping[str, float]) -> pd.DataFrame:
    """The cells of the tables: whole storage, and SHARC at the theta of the cell's scenario."""
    wanted = cells["scenario"].map(theta)
    sharc = (cells["memory"] == memory) & (cells["theta"] == wanted)
    kept = cells[(cells["variant"] == DENSE) | sharc].copy()
    kept["storage"] = kept["variant"].map(lambda name: PLAIN if name == DENSE else SHARC)
    return kept


def headline(table: pd.DataFrame) -> dict[str, Any]:
    """Means in points, per scenario: both bounds, replay without and with SHARC, and the gain."""
    found: dict[str, Any] = {}
    for scenario in SCENARIOS:
        rows = table[table["scenario"] == scenario]
        replay = rows[rows["buffer"] > 0]
        groups = {name: rows[rows["method"] == name] for name in ("sgd", "joint")}
        groups |= {"replay": replay[replay["storage"] == PLAIN]}
        groups |= {"replay_sharc": replay[replay["storage"] == SHARC]}
        scores = {f"acc_{name}": group["acc_mean"].mean() for name, group in groups.items()}
        scores["gain_sharc"] = groups["replay_sharc"]["gain_mean"].mean()
        scores["bwt_replay_sharc"] = groups["replay_sharc"]["bwt_mean"].mean()
        found[scenario] = {k: round(float(v), 2) for k, v in scores.items() if pd.notna(v)}
    return found


def learning_curves(curves: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy over the seeds after each task, at each method's smallest buffer."""
    smallest = table.groupby(["dataset", "method"])["buffer"].transform("min")
    cells = table[table["buffer"] == smallest]
    rows = curves.merge(cells[[*_CELL, "variant", "storage"]])
    names = ["dataset", "scenario", "method", "storage", "task"]
    return rows.groupby(names, sort=False, as_index=False)["accuracy"].mean()


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """What SHARC adds to each method, with its interval, per data set, scenario and buffer."""
    rows = table[(table["storage"] == SHARC) & table["gain_mean"].notna()]
    names = ["dataset", "scenario", "method", "buffer", "gain_mean", "gain_low", "gain_high"]
    return rows[names].rename(columns=lambda name: name.removesuffix("_mean"))
