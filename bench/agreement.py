"""Do the numbers that a device gives agree with the committed ones, cell by cell?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import pandas as pd

from sharc.compare.cells import CELL, MOVES, compare, labels_of, only_in
from sharc.results.folder import Results

TOLERANCE = 0.1  # percent of the committed value


@dataclass(frozen=True)
class Difference:
    """A cell's mean ACC over its seeds on both sides; None where no run of the cell has one."""

    cell: str
    committed: float | None
    built: float | None
    decided: bool  # the 95 % interval of the difference over seeds excludes zero

    @property
    def percent(self) -> float:
        """Of the committed ACC; infinite where only one side has a number."""
        if self.built == self.committed:
            return 0.0
        if self.built is None or not self.committed:
            return inf
        return abs(self.built - self.committed) / self.committed * 100

    def __str__(self) -> str:
        sides = (self.committed, self.built)
        committed, built = ("missing" if acc is None else f"{acc:.4f}" for acc in sides)
        by = f", {self.percent:.3g} %" if self.percent < inf else ""
        return f"{self.cell}: {committed} committed, {built} built{by}"

    def json(self) -> dict[str, Any]:
        """For a file that is sent."""
        return {**asdict(self), "percent": self.percent if self.percent < inf else None}


@dataclass(frozen=True)
class Agreement:
    """Every cell of two sets of results, and how many runs of the same seed have the same ACC."""

    cells: Sequence[Difference]
    alone: tuple[int, int]  # cells that are only committed, and only built
    runs: int
    same_runs: int

    @property
    def largest(self) -> Difference:
        """The cell that differs most."""
        return max(self.cells, key=lambda cell: cell.percent)

    @property
    def beyond(self) -> list[Difference]:
        """The cells that differ by more than the tolerance, the largest difference first."""
        found = [cell for cell in self.cells if cell.percent > TOLERANCE]
        return sorted(found, key=lambda cell: -cell.percent)

    @property
    def holds(self) -> bool:
        """Both have the same cells, and none is beyond the tolerance."""
        return not self.beyond and not any(self.alone)

    def __str__(self) -> str:
        decided = sum(cell.decided for cell in self.beyond)
        lines = [
            f"{len(self.cells)} cells, mean ACC over seeds: {len(self.beyond)} differ by more than "
            f"{TOLERANCE} %, {decided} of them beyond the spread over seeds.",
            f"The largest difference: {self.largest}.",
            f"{self.same_runs} of {self.runs} runs have the same ACC.",
        ]
        lines += [f"  beyond: {cell}" for cell in self.beyond]
        if any(self.alone):
            lines.append("  {} cells are only committed, {} only built".format(*self.alone))
        return "\n".join(lines)

    def json(self) -> dict[str, Any]:
        """For a file that is sent."""
        return {
            "holds": self.holds,
            "compared": "mean ACC of each cell over its seeds",
            "tolerance_percent": TOLERANCE,
            "cells": len(self.cells),
            "only_committed": self.alone[0],
            "only_built": self.alone[1],
            "largest": self.largest.json(),
            "beyond": [cell.json() for cell in self.beyond],
            "runs": self.runs,
            "runs_with_the_same_acc": self.same_runs,
        }


def agreement(committed: Results, built: Results) -> Agreement:
    """Compare what was built with what is committed."""
    frame = compare(committed, built)
    accs = ([None if pd.isna(x) else float(x) for x in frame[f"acc_{side}"]] for side in "ab")
    decided = frame["acc_move"].isin([MOVES["up"], MOVES["down"]]).tolist()
    cells = [Difference(*given) for given in zip(labels_of(frame), *accs, decided, strict=True)]
    alone = (only_in(committed, built), only_in(built, committed))
    runs = committed.runs.merge(built.runs, on=[*CELL, "seed"])
    same = runs["acc_x"].eq(runs["acc_y"]) | runs[["acc_x", "acc_y"]].isna().all(axis=1)
    return Agreement(cells, alone, len(runs), int(same.sum()))
