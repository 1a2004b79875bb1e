"""Checks on gains: does SHARC improve, where, by how much, and where more than elsewhere."""

from typing import Any

import numpy as np

from sharc.results.claims.evidence import Evidence, Gains, Place, difference
from sharc.results.claims.finding import (
    DOES_NOT_SUPPORT,
    SUPPORTS,
    Finding,
    figures,
    interval,
    not_tested,
)
from sharc.results.statistics import estimate, mean_by_seed, pooled
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED

Answer = tuple[Finding, Finding | None]
NO_CELLS = "none of the cells the sentence rests on is part of this suite"


def most_improve(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """More than half of the cells improve, each by its paired interval."""
    found = evidence.gains(claim["cells"])
    return majority(evidence, found), _printed_majority(evidence, claim["cells"], share=0.5)


def majority(evidence: Evidence, found: dict[Place, Gains], what: str = "improve") -> Finding:
    """The verdict on "in most cases": decided cells, not signs of means."""
    if not found:
        return not_tested(NO_CELLS)
    sums = pooled(list(found.values()))
    if sums.improved > sums.cells / 2:
        verdict = REPRODUCED
    elif sums.positive <= sums.cells / 2 or sums.gain.direction == "down":
        verdict = NOT_REPRODUCED
    else:
        verdict = UNDECIDED
    text = (
        f"{sums.improved} of {sums.cells} cells {what} beyond their interval, {sums.worsened} go "
        f"the other way, the rest is undecided ({sums.positive} means are positive). "
        f"Mean over cells: {interval(sums.gain)}."
    )
    return Finding(verdict, text, _counts(sums), [evidence.name(place) for place in found])


def _counts(sums: Any) -> dict[str, Any]:
    counts = {name: getattr(sums, name) for name in ("cells", "positive", "improved", "worsened")}
    return counts | {"sign_test_p": sums.sign_p} | figures(sums.gain)


def _printed_majority(evidence: Evidence, cells: dict[str, Any], share: float) -> Finding | None:
    printed = evidence.printed_gains(cells)
    if not printed:
        return None
    positive = sum(gain.mean > 0 for gain in printed)
    beyond = sum(gain.direction == "up" for gain in printed)
    enough = positive == len(printed) if share == 1 else positive > share * len(printed)
    text = (
        f"{positive} of {len(printed)} printed means rise, {beyond} of them by more than their "
        "printed spread allows (unpaired)."
    )
    counts = {"cells": len(printed), "positive": positive, "beyond_spread": beyond}
    return Finding(SUPPORTS if enough else DOES_NOT_SUPPORT, text, counts)


def all_improve(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """Every cell improves; one that worsens beyond its interval refutes it."""
    found = evidence.gains(claim["cells"])
    printed = _printed_majority(evidence, claim["cells"], share=1)
    if not found:
        return not_tested(NO_CELLS), printed
    sums = pooled(list(found.values()))
    verdict = UNDECIDED
    if sums.improved == sums.cells:
        verdict = REPRODUCED
    elif sums.worsened:
        verdict = NOT_REPRODUCED
    text = (
        f"{sums.improved} of {sums.cells} cells improve beyond their interval, {sums.worsened} "
        f"worsen beyond it. Mean over cells: {interval(sums.gain)}."
    )
    return Finding(verdict, text, _counts(sums), [evidence.name(p) for p in found]), printed


def gain_about(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The mean gain is above zero and not smaller than the paper's figure, in points.

    A figure the paper calls approximate has a `tolerance`: half of its last digit.
    """
    points, slack = float(claim["points"]), float(claim.get("tolerance", 0))
    found = evidence.gains(claim["cells"])
    printed = evidence.printed_gains(claim["cells"])
    mean = float(np.mean([gain.mean for gain in printed])) if printed else float("nan")
    paper = Finding(
        SUPPORTS if round(mean, 2) >= points - slack else DOES_NOT_SUPPORT,
        f"The printed means differ by {mean:.2f} points on average; the sentence says {points:g}.",
        {"points": mean},
    )
    if not found:
        return not_tested(NO_CELLS), paper
    gain = estimate(list(mean_by_seed(list(found.values())).values()))
    if gain.high < points - slack:
        verdict = NOT_REPRODUCED
    else:
        verdict = REPRODUCED if gain.low > 0 else UNDECIDED
    text = f"Ours: {interval(gain)}, where the paper says {points:g} points."
    cells = [evidence.name(place) for place in found]
    return Finding(verdict, text, figures(gain) | {"points": points}, cells), paper


def larger_gain(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The mean gain over one group of cells is larger than over another."""
    groups = [evidence.gains(claim[name]) for name in ("cells", "than")]
    printed = [evidence.printed_gains(claim[name]) for name in ("cells", "than")]
    means = [float(np.mean([gain.mean for gain in group])) for group in printed if group]
    paper = None
    if len(means) == 2:
        paper = Finding(
            SUPPORTS if means[0] > means[1] else DOES_NOT_SUPPORT,
            f"Printed mean gains: {means[0]:.2f} against {means[1]:.2f} points.",
            {"gain": means[0], "than": means[1]},
        )
    if not all(groups):
        return not_tested(NO_CELLS), paper
    one, other = (mean_by_seed(list(group.values())) for group in groups)
    gap = estimate(list(difference(one, other).values()))
    verdict = {"up": REPRODUCED, "down": NOT_REPRODUCED}.get(gap.direction, UNDECIDED)
    text = (
        f"Mean gains {np.mean(list(one.values())):.2f} against "
        f"{np.mean(list(other.values())):.2f} points; "
        f"difference {interval(gap)}."
    )
    cells = [evidence.name(place) for group in groups for place in group]
    return Finding(verdict, text, figures(gap, "difference"), cells), paper
