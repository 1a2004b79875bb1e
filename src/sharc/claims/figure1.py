"""The check on Figure 1: recall against inpainting where most of the image is lost."""

from typing import Any

import numpy as np

from sharc.artifacts.files import read_json
from sharc.claims.evidence import Evidence
from sharc.claims.finding import Finding, not_tested
from sharc.claims.gains import Answer
from sharc.results.rival_errors import hard_errors, means
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED


def figure1_recall(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """On stored images, the memory's error is below the inpainter's at every hard corruption."""
    if evidence.figure1 is None:
        return not_tested("this suite does not build Figure 1"), None
    rows = read_json(evidence.figure1 / "figure1.json")["rows"]
    stored, unseen = (hard_errors(rows, float(claim["level"]), stored=s) for s in (True, False))
    pairs = list(zip(stored["hopfield"], stored["inpainter"], strict=True))
    better = sum(memory < inpainter for memory, inpainter in pairs)
    verdict = {len(pairs): REPRODUCED, 0: NOT_REPRODUCED}.get(better, UNDECIDED)
    text = (
        f"On stored images the Hopfield memory has the smaller error in {better} of {len(pairs)} "
        f"hard corruptions (mean squared error: {means(stored)}). On images that were never "
        f"stored: {means(unseen)}."
    )
    numbers = {rival: float(np.mean(errors)) for rival, errors in stored.items()}
    return Finding(verdict, text, {"corruptions": len(pairs), "better": better, **numbers}), None
