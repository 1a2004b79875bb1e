"""The check on Figure 1: recall against inpainting where most of the image is lost."""

from typing import Any

import numpy as np

from sharc.artifacts.files import read_json
from sharc.results.claims.evidence import Evidence
from sharc.results.claims.finding import Finding, not_tested
from sharc.results.claims.gains import Answer
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED

_RIVALS = ("hopfield", "inpainter")


def figure1_recall(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """On stored images, the memory's error is below the inpainter's at every hard corruption."""
    if evidence.figure1 is None:
        return not_tested("this suite does not build Figure 1"), None
    rows = read_json(evidence.figure1 / "figure1.json")["rows"]
    stored, unseen = (hard_errors(rows, float(claim["level"]), stored=s) for s in (True, False))
    better = sum(row["hopfield"] < row["inpainter"] for row in stored)
    verdict = {len(stored): REPRODUCED, 0: NOT_REPRODUCED}.get(better, UNDECIDED)
    text = (
        f"On stored images the Hopfield memory has the smaller error in {better} of {len(stored)} "
        f"hard corruptions (mean squared error {_means(stored)}). On images that were never "
        f"stored: {_means(unseen)}."
    )
    means = {name: float(np.mean([row[name] for row in stored])) for name in _RIVALS}
    return Finding(verdict, text, {"corruptions": len(stored), "better": better, **means}), None


def hard_errors(rows: list[Any], level: float, *, stored: bool) -> list[dict[str, float]]:
    """Mean squared errors at corruptions of at least `level`."""
    return [
        {name: row[name]["mse"] for name in _RIVALS}
        for row in rows
        if row["stored"] is stored and row["level"] >= level
    ]


def _means(rows: list[dict[str, float]]) -> str:
    return " against ".join(f"{np.mean([row[name] for row in rows]):.4f}" for name in _RIVALS)
