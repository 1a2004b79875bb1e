"""Ladder runs as tidy rows: ACC at every rung, and what its switch did, paired by seed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sharc import metrics
from sharc.errors import UserError
from sharc.results.ladder_plan import Ladder, Place, Rung
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
Scores = dict[tuple[int, Place, str], BySeed]


def scores(paths: Sequence[Path], ladder: Ladder) -> Scores:
    """ACC by seed of every run that ended well, per (rung it was made at, place, scenario)."""
    planned = {(at, place) for (_, place), at in ladder.made_at.items()}
    seen: dict[tuple[int, Place, int], Path] = {}
    found: Scores = {}
    for path in sorted(paths):
        record = checked(path)
        rung, place, seed = _identity(record, path)
        if (rung, place) not in planned or seed not in ladder.seeds or _foreign(record, ladder):
            raise UserError(f"{path} is no run of this ladder: delete it and run again.")
        if (rung, place, seed) in seen:
            raise UserError(f"{path} and {seen[rung, place, seed]} are records of the same run.")
        seen[rung, place, seed] = path
        if record["status"] == "ok":
            for scenario in SCENARIOS:
                acc = metrics.acc(matrix(record["accuracy"][scenario]))
                if np.isfinite(acc):
                    found.setdefault((rung, place, scenario), {})[seed] = acc
    return found


def _identity(record: dict[str, Any], path: Path) -> tuple[int, Place, int]:
    if not isinstance(record.get("rung"), int):
        raise UserError(f"{path} does not say which rung it belongs to: delete it and run again.")
    place = Place(record["dataset"], record["method"], record["variant"])
    return record["rung"], place, record["seed"]


def _foreign(record: dict[str, Any], ladder: Ladder) -> bool:
    return bool(record["backbone"] != ladder.backbone or record["buffer"] != ladder.buffer)


def table(found: Scores, ladder: Ladder, paper: Paper) -> pd.DataFrame:
    """One row per rung, place and scenario; a missing run is counted, never averaged over."""
    return pd.DataFrame(list(_rows(found, ladder, paper)), columns=list(COLUMNS))


def _rows(found: Scores, ladder: Ladder, paper: Paper) -> Iterator[dict[str, Any]]:
    for below, rung in zip((None, *ladder.rungs), ladder.rungs, strict=False):
        for dataset in ladder.datasets:
            for place in ladder.places_of(dataset):
                for scenario in SCENARIOS:
                    yield {
                        **rung._asdict(),
                        **place._asdict(),
                        "rung": rung.number,
                        "scenario": scenario,
                        "reused": ladder.reused(rung.number, place),
                        **_numbers(found, ladder, (rung, below), place, scenario),
                        **_printed(paper, ladder, place, scenario),
                    }


def _numbers(
    found: Scores, ladder: Ladder, rungs: tuple[Rung, Rung | None], place: Place, scenario: str
) -> dict[str, float]:
    """ACC here, and its difference to the rung before, of the seeds that both have."""
    here, before = (
        {} if rung is None else found.get((ladder.made_at[rung.number, place], place, scenario), {})
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


def _printed(paper: Paper, ladder: Ladder, place: Place, scenario: str) -> dict[str, float]:
    cell = paper.cell(scenario, place.dataset, place.method, ladder.buffer, plus=place.plus)
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
