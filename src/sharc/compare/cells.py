"""Which cells moved from one set of results to another, by how much, and whether it is decided."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from sharc.errors import UserError
from sharc.results.folder import Results
from sharc.results.statistics import Estimate, estimate, from_summary, paired
from sharc.results.summary import by_seed

CELL = ("dataset", "backbone", "method", "variant", "buffer", "scenario")
METRICS = ("acc", "bwt")
MOVES = {"up": "rises", "down": "falls", "undecided": "undecided"}
SAME = "unchanged"
COLUMNS = (
    *CELL,
    *(f"{metric}_{part}" for metric in METRICS
      for part in ("a", "b", "change", "low", "high", "move")),
    "seeds", "paired",
)  # fmt: skip


def compare(a: Results, b: Results) -> pd.DataFrame:
    """One row per cell that both have, B minus A; paired by seed where both have those runs."""
    sides = [_summary(found) for found in (a, b)]
    shared = [cell for cell in sides[0] if cell in sides[1]]
    if not shared:
        raise UserError(_nothing_shared(*sides))
    runs = [_runs(found) for found in (a, b)]
    rows = [
        dict(zip(CELL, cell, strict=True))
        | _row([side[cell] for side in sides], [side.get(cell) for side in runs])
        for cell in shared
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def only_in(a: Results, b: Results) -> int:
    """How many cells of A are not in B."""
    return len(set(_summary(a)) - set(_summary(b)))


def _summary(found: Results) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[name] for name in CELL): row for row in found.summary.to_dict("records")}


def _runs(found: Results) -> dict[tuple[Any, ...], pd.DataFrame]:
    try:
        frame = found.runs
    except UserError:  # an old export has no runs by seed
        return {}
    return dict(iter(frame.groupby(list(CELL), sort=False)))


def _row(sides: list[dict[str, Any]], runs: list[pd.DataFrame | None]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for metric in METRICS:
        change, by_seeds = _change(metric, sides, runs)
        a, b = (side[f"{metric}_mean"] for side in sides)
        known = dict(zip("ab", (a, b), strict=True))
        known |= {"change": change.mean, "low": change.low, "high": change.high}
        known["move"] = _move(change)
        row |= {f"{metric}_{part}": value for part, value in known.items()}
        row.setdefault("seeds", change.n)
        row.setdefault("paired", by_seeds)
    return row


def _change(
    metric: str, sides: list[dict[str, Any]], runs: list[pd.DataFrame | None]
) -> tuple[Estimate, bool]:
    """The change and whether runs of the same seed were compared."""
    if all(frame is not None for frame in runs):
        a, b = (by_seed(frame, metric) for frame in runs if frame is not None)
        if pairs := paired(b, a):
            return estimate(pairs), True
    means = [float(side[f"{metric}_mean"]) for side in sides]
    spread = float(np.hypot(*(side[f"{metric}_sd"] for side in sides)))
    n = int(min(side["n"] for side in sides))
    change = means[1] - means[0]
    return (from_summary(change, spread, n) if n > 1 else Estimate(n, change)), False


def _move(change: Estimate) -> str:
    if math.isnan(change.mean):
        return ""
    return SAME if change.mean == change.low == change.high == 0 else MOVES[change.direction]


def _nothing_shared(*sides: dict[tuple[Any, ...], Any]) -> str:
    """Which part of the cells' names differs."""
    differ = []
    for index, name in enumerate(CELL[:-1]):
        a, b = ({str(cell[index]) for cell in side} for side in sides)
        if not a & b:
            differ.append(f"{name} is {_some(a)} in A and {_some(b)} in B")
    return (
        "A and B have no cell in common, so there is nothing to compare: "
        f"{'; '.join(differ) or 'they combine the same names in other ways'}. Name two builds that "
        "share data sets, backbone, methods and buffers."
    )


def _some(names: set[str]) -> str:
    first = sorted(names)[:4]
    return ", ".join(first) + (", ..." if len(names) > 4 else "")


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells that moved: decided ones first, the largest change first."""
    moved = frame[~frame["acc_move"].isin([SAME, ""])]
    order = moved["acc_change"].abs().sort_values(ascending=False, kind="stable").index
    moved = moved.loc[order]
    return moved.sort_values("acc_move", key=lambda moves: moves == "undecided", kind="stable")


def labels_of(frame: pd.DataFrame) -> Iterator[str]:
    """`digits/er/bayes_pcn-t0.8/b50 task_il`: a cell in one word, and its scenario."""
    several = frame["backbone"].nunique() > 1
    for row in frame.to_dict("records"):
        backbone = [row["backbone"]] if several else []
        names = [row["dataset"], *backbone, row["method"], row["variant"], f"b{row['buffer']}"]
        yield f"{'/'.join(map(str, names))} {row['scenario']}"
