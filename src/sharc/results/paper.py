"""The paper's printed numbers (its two main and two appendix tables), by our names."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sharc.errors import UserError
from sharc.results import labels
from sharc.results.statistics import Estimate, from_summary

SEEDS = 5  # "five runs with varying seeds", captions of the tables
_COLUMNS = {
    "table", "scenario", "dataset", "buffer", "method", "sharc",
    "acc_mean", "acc_std", "bwt_mean", "bwt_std",
}  # fmt: skip
_NAMES = {labels.method(name): name for name in (*labels.NAIVE, *labels.REPLAY)}


@dataclass(frozen=True)
class PaperCell:
    """One printed cell: mean and standard deviation over five runs."""

    acc_mean: float
    acc_sd: float
    bwt_mean: float
    bwt_sd: float


class Paper:
    """Lookup of a printed cell by scenario, data set, method, buffer and "+"."""

    def __init__(self, path: Path) -> None:
        """Read the CSV; the appendix's own JOINT and SGD rows are left aside.

        In the appendix's Task-IL table those rows repeat the Class-IL numbers (72.85, 20.47),
        so the main tables' rows stand for both.
        """
        frame = pd.read_csv(path)
        if absent := _COLUMNS - set(frame.columns):
            raise UserError(f"{path} lacks the columns {', '.join(sorted(absent))}.")
        naive = frame["buffer"].isna() & frame["table"].str.startswith("appendix")
        self._cells = {
            (
                row["scenario"],
                row["dataset"],
                _NAMES[row["method"]],
                0 if np.isnan(row["buffer"]) else int(row["buffer"]),
                bool(row["sharc"]),
            ): PaperCell(row["acc_mean"], row["acc_std"], row["bwt_mean"], row["bwt_std"])
            for row in frame[~naive].to_dict("records")
        }

    def cell(
        self, scenario: str, dataset: str, method: str, buffer: int, *, plus: bool
    ) -> PaperCell | None:
        """The printed cell, or None where the paper has none (another buffer, Split-Digits)."""
        column = labels.PAPER_COLUMN.get(dataset, "")
        return self._cells.get((scenario, column, method, buffer, plus))

    def gain(
        self, scenario: str, dataset: str, method: str, buffer: int, metric: str = "acc"
    ) -> Estimate | None:
        """Printed "+" minus printed base; its interval is unpaired: it prints no single runs."""
        base = self.cell(scenario, dataset, method, buffer, plus=False)
        plus = self.cell(scenario, dataset, method, buffer, plus=True)
        if base is None or plus is None:
            return None
        difference = getattr(plus, f"{metric}_mean") - getattr(base, f"{metric}_mean")
        spread = np.hypot(getattr(plus, f"{metric}_sd"), getattr(base, f"{metric}_sd"))
        return from_summary(float(difference), float(spread), SEEDS)
