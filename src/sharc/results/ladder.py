"""Ladder runs as tidy rows: ACC at every rung, and what its switch did, paired by seed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sharc import metrics
from sharc.errors import UserError
from sharc.results.ladder_plan import Column, LadderPlan, PlannedRung
from sharc.results.layout import SCENARIOS
from sharc.results.paper import Paper
from sharc.results.records import checked
from sharc.results.statistics import NAN, NOTHING, Estimate, estimate, paired
from sharc.results.tidy import matrix
from sharc.results.verdicts import IMPROVES, WORSENS, direction

COLUMNS = (
    "rung", "switch", "before", "after", "dataset", "method", "variant", "scenario", "reused",
    "n", "n_missing", "acc_mean", "acc_sd", "acc_low", "acc_high",
    "effect_n", "effect_mean", "effect_low", "effect_high", "paper_acc", "paper_sd",
)  # fmt: skip

BySeed = dict[int, float]
Scores = dict[tuple[int, Column, str], BySeed]


def scores(paths: Sequence[Path], ladder: LadderPlan) -> Scores:
    """ACC by seed of every successful run, per (rung it was made at, column, scenario)."""
    planned = {(at, column) for (_, column), at in ladder.runs_from.items()}
    seen: dict[tuple[int, Column, int], Path] = {}
    found: Scores = {}
    for path in sorted(paths):
        record = checked(path)
        rung, column, seed = _identity(record, path)
        if (rung, column) not in planned or seed not in ladder.seeds or _foreign(record, ladder):
            raise UserError(f"{path} is not a run of this ladder: delete it and run again.")
        if (rung, column, seed) in seen:
            raise UserError(f"{path} and {seen[rung, column, seed]} are records of the same run.")
        seen[rung, column, seed] = path
        if record["status"] == "ok":
            for scenario in SCENARIOS:
                acc = metrics.acc(matrix(record["accuracy"][scenario]))
                if np.isfinite(acc):
                    found.setdefault((rung, column, scenario), {})[seed] = acc
    return found


def _identity(record: dict[str, Any], path: Path) -> tuple[int, Column, int]:
    if not isinstance(record.get("rung"), int):
        raise UserError(f"{path} does not say which rung it belongs to: delete it and run again.")
    column = Column(record["dataset"], record["method"], record["variant"])
    return record["rung"], column, record["seed"]


def _foreign(record: dict[str, Any], ladder: LadderPlan) -> bool:
    return bool(record["backbone"] != ladder.backbone or record["buffer"] != ladder.buffer)


def table(found: Scores, ladder: LadderPlan, paper: Paper) -> pd.DataFrame:
    """One row per rung, column and scenario; a missing run is counted, never averaged over."""
    return pd.DataFrame(list(_rows(found, ladder, paper)), columns=list(COLUMNS))


def _rows(found: Scores, ladder: LadderPlan, paper: Paper) -> Iterator[dict[str, Any]]:
    for below, rung in zip((None, *ladder.rungs), ladder.rungs, strict=False):
        for dataset in ladder.datasets:
            for column in ladder.columns_of(dataset):
                for scenario in SCENARIOS:
                    yield {
                        **rung._asdict(),
                        **column._asdict(),
                        "rung": rung.number,
                        "scenario": scenario,
                        "reused": ladder.reused(rung.number, column),
                        **_numbers(found, ladder, (rung, below), column, scenario),
                        **_printed(paper, ladder, column, scenario),
                    }


def _numbers(
    found: Scores,
    ladder: LadderPlan,
    rungs: tuple[PlannedRung, PlannedRung | None],
    column: Column,
    scenario: str,
) -> dict[str, float]:
    """ACC here, and its difference to the rung before, of the seeds that both have."""
    here, before = (
        found.get((ladder.runs_from[rung.number, column], column, scenario), {}) if rung else {}
        for rung in rungs
    )
    acc = estimate(list(here.values()))
    effect = NOTHING if rungs[1] is None else estimate(paired(here, before))
    return {
        "n": acc.n, "n_missing": len(ladder.seeds) - acc.n,
        "acc_mean": acc.mean, "acc_sd": acc.sd, "acc_low": acc.low, "acc_high": acc.high,
        "effect_n": effect.n, "effect_mean": effect.mean,
        "effect_low": effect.low, "effect_high": effect.high,
    }  # fmt: skip


def _printed(paper: Paper, ladder: LadderPlan, column: Column, scenario: str) -> dict[str, float]:
    cell = paper.cell(scenario, column.dataset, column.method, ladder.buffer, plus=column.plus)
    return {
        "paper_acc": NAN if cell is None else cell.acc_mean,
        "paper_sd": NAN if cell is None else cell.acc_sd,
    }


def csv(frame: pd.DataFrame) -> str:
    """Numbers for other programs; `reused` is true where a cell does not read the switch."""
    words = frame.assign(reused=frame["reused"].map({True: "true", False: "false"}))
    return str(words.to_csv(index=False, float_format="%.6f", lineterminator="\n"))


def verdict(row: Any) -> str:
    """improves, worsens or undecided, by the rule of every gain; empty without an effect."""
    mean, low, high = (row[f"effect_{part}"] for part in ("mean", "low", "high"))
    return direction(Estimate(int(row["effect_n"]), mean, NAN, low, high))


def decided(frame: pd.DataFrame) -> list[bool]:
    """Per row, whether its switch decidedly moves ACC."""
    return [verdict(row) in (IMPROVES, WORSENS) for row in frame.to_dict("records")]
