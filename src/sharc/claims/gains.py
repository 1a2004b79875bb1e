"""Checks on gains: does SHARC improve, where, by how much, and where more than elsewhere."""

from collections.abc import Callable
from typing import Any

import numpy as np

from sharc.claims.evidence import Entry, Evidence, Gains
from sharc.claims.finding import DOES_NOT_SUPPORT, SUPPORTS, Finding, figures, interval, not_tested
from sharc.errors import UserError, unknown
from sharc.results import labels
from sharc.results.statistics import Estimate, difference, estimate, mean_by_seed, pooled
from sharc.results.verdicts import BY_DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDECIDED

Answer = tuple[Finding, Finding | None]
NO_CELLS = "this suite has none of the cells the sentence is about"


def most_improve(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """More than half of the cells improve, each by its paired interval."""
    found = evidence.gains(claim["cells"])
    return majority(evidence, found), _printed_majority(evidence, claim["cells"], share=0.5)


def majority(
    evidence: Evidence,
    found: dict[Entry, Gains],
    what: str = "improve",
    variant: str | None = None,
) -> Finding:
    """The verdict on "in most cases": cells are counted, and their mean is reported with the count.

    A mean over cells would let one method that loses much outvote five that gain little. The
    cells are those of the "+" forms, unless a variant is given.
    """
    if not found:
        return not_tested(NO_CELLS)
    sums = pooled(list(found.values()))
    verdict = UNDECIDED
    if sums.improved > sums.cells / 2:
        verdict = REPRODUCED
    elif sums.positive <= sums.cells / 2 and sums.worsened > sums.improved:
        verdict = NOT_REPRODUCED
    text = (
        f"{sums.improved} of {sums.cells} cells decidedly {what}; {sums.worsened} decidedly do "
        f"the opposite, the others are undecided ({sums.positive} means are positive). Mean over "
        f"cells: {interval(sums.gain)}."
    )
    cells = [evidence.name(entry, variant) for entry in found]
    return Finding(verdict, text, _counts(sums), cells)


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
        f"{sums.improved} of {sums.cells} cells decidedly improve, {sums.worsened} decidedly "
        f"worsen. Mean over cells: {interval(sums.gain)}."
    )
    return Finding(verdict, text, _counts(sums), [evidence.name(p) for p in found]), printed


_GROUPINGS: tuple[Callable[[Entry], str], ...] = (
    lambda entry: labels.dataset(entry.dataset),
    lambda entry: labels.method(entry.method),
    lambda entry: f"buffer {entry.buffer}",
)


def every_group_gains(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """Each data set, each method and each buffer gains, averaged over the other two."""
    found = evidence.gains(claim["cells"])
    if not found:
        return not_tested(NO_CELLS), None
    groups: dict[str, list[Gains]] = {}
    for group_of in _GROUPINGS:
        for entry, gain in found.items():
            groups.setdefault(group_of(entry), []).append(gain)
    means = {
        name: estimate(list(mean_by_seed(members).values())) for name, members in groups.items()
    }
    up = [name for name, mean in means.items() if mean.direction == "up"]
    verdict = _all_of([BY_DIRECTION[mean.direction] for mean in means.values()])
    rest = [f"{name} {interval(mean)}" for name, mean in means.items() if name not in up]
    text = f"{len(up)} of {len(means)} data sets, methods and buffers gain on average"
    text += f"; not so: {', '.join(rest)}." if rest else "."
    numbers = {name: mean.mean for name, mean in means.items()}
    return Finding(verdict, text, numbers, [evidence.name(entry) for entry in found]), None


# Which of our gains must reach the paper's figure, and which printed gain it is compared with.
_TAKES: dict[str, tuple[str, Callable[[list[float]], float]]] = {
    "mean": ("mean", lambda printed: float(np.mean(printed))),
    "each": ("smallest", min),
    "largest": ("largest", max),
}


def gain_about(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """A gain is decidedly above zero and its mean reaches the paper's figure, in points.

    `take` says which one: the mean over cells, that of each cell, or the largest. A figure the
    paper calls approximate has a `tolerance`: half of its last digit.
    """
    points, least = float(claim["points"]), float(claim["points"]) - claim.get("tolerance", 0)
    take = claim.get("take", "mean")
    if take not in _TAKES:
        raise UserError(f"claim {claim.get('id')}: {unknown('take', take, _TAKES)}")
    which, choose = _TAKES[take]
    printed = [gain.mean for gain in evidence.printed_gains(claim["cells"])]
    stands = choose(printed) if printed else float("nan")
    paper = Finding(
        SUPPORTS if round(stands, 2) >= least else DOES_NOT_SUPPORT,
        f"The {which} printed gain is {stands:.2f} points; the sentence says {points:g}.",
        {"points": stands},
    )
    found = evidence.gains(claim["cells"])
    if not found:
        return not_tested(NO_CELLS), paper
    gains = _taken(found, take)
    verdict = _all_of([reaches(gain, least) for gain in gains.values()])
    said = ", ".join(f"{name} {interval(gain)}".strip() for name, gain in gains.items())
    text = f"Ours: {said}; the paper says {points:g} points."
    numbers = figures(next(iter(gains.values()))) if len(gains) == 1 else {}
    cells = [evidence.name(entry) for entry in found]
    return Finding(verdict, text, numbers | {"points": points}, cells), paper


def _taken(found: dict[Entry, Gains], take: str) -> dict[str, Estimate]:
    """The gains that a sentence speaks of, by the method's name where it speaks of single ones."""
    if take == "mean":
        return {"": estimate(list(mean_by_seed(list(found.values())).values()))}
    each = {
        f"{labels.method(entry.method)} on {labels.dataset(entry.dataset)}": estimate(
            list(gain.values())
        )
        for entry, gain in found.items()
    }
    top = max(each, key=lambda name: each[name].mean)
    return each if take == "each" else {top: each[top]}


def _all_of(verdicts: list[str]) -> str:
    """One exception refutes what is said of all; one open case leaves it open."""
    if NOT_REPRODUCED in verdicts:
        return NOT_REPRODUCED
    return UNDECIDED if UNDECIDED in verdicts else REPRODUCED


def reaches(gain: Estimate, least: float) -> str:
    """Whether a gain is above zero and reaches a figure."""
    if gain.direction_from(least) == "down":
        return NOT_REPRODUCED
    return REPRODUCED if gain.direction == "up" and gain.mean >= least else UNDECIDED


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
    text = (
        f"Mean gains {labels.signed(float(np.mean(list(one.values()))))} against "
        f"{labels.signed(float(np.mean(list(other.values()))))} points; "
        f"difference {interval(gap)}."
    )
    cells = [evidence.name(entry) for group in groups for entry in group]
    return Finding(BY_DIRECTION[gap.direction], text, figures(gap, "difference"), cells), paper
