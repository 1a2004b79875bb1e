"""The check on Figure 1: recall against inpainting where most of the image is lost."""

from typing import Any

import numpy as np

from sharc.artifacts.files import read_json
from sharc.results.claims.evidence import Evidence
from sharc.results.claims.finding import Finding, not_tested
from sharc.results.claims.gains import Answer
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED


def figure1_recall(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """On stored images, the memory's error is below the inpainter's at every hard corruption."""
    if evidence.figure1 is None:
        return not_tested("this suite does not build Figure 1"), None
    rows = hard_rows(read_json(evidence.figure1 / "figure1.json"), float(claim["level"]))
    if not rows:
        return not_tested("figure1.json has no corruption of that size"), None
    better = sum(row["hopfield"] < row["inpainter"] for row in rows)
    verdict = {len(rows): REPRODUCED, 0: NOT_REPRODUCED}.get(better, UNDECIDED)
    means = {
        name: float(np.mean([row[name] for row in rows])) for name in ("hopfield", "inpainter")
    }
    text = (
        f"On stored images the Hopfield memory has the smaller error in {better} of {len(rows)} "
        f"hard corruptions (mean squared error {means['hopfield']:.4f} against "
        f"{means['inpainter']:.4f}). This says nothing about images that were never stored."
    )
    return Finding(verdict, text, {"corruptions": len(rows), "better": better, **means}), None


def hard_rows(content: Any, level: float) -> list[dict[str, float]]:
    """Errors on stored images at corruptions of at least `level`, by any spelling of the stage."""
    found = []
    for row in content.get("rows", content.get("results", [])):
        stored = row.get("stored", row.get("images", "stored"))
        if stored in (True, "stored") and float(row["level"]) >= level:
            errors = {name: _error(row, name) for name in ("hopfield", "inpainter")}
            found.append(errors)
    return found


def _error(row: dict[str, Any], name: str) -> float:
    nested = row.get(name)
    return float(nested["mse"] if isinstance(nested, dict) else row[f"{name}_mse"])
