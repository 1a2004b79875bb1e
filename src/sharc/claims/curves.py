"""Checks on learning curves: their height and their trend."""

from typing import Any

import numpy as np

from sharc.artifacts.runs import DENSE
from sharc.claims.evidence import Entry, Evidence, Gains
from sharc.claims.finding import Finding, figures, interval, not_tested
from sharc.claims.gains import NO_CELLS, Answer, majority
from sharc.results.statistics import difference, estimate, mean_by_seed
from sharc.results.verdicts import BY_DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDECIDED


def curves_above(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """Averaged over all tasks after the first, most curves lie higher with SHARC."""
    found = {}
    for entry in evidence.entries(claim["cells"]):
        plus = evidence.layout.variant(entry.scenario, plus=True)
        gap = difference(_curve(evidence, entry, plus), _curve(evidence, entry, DENSE))
        if gap:
            found[entry] = gap
    return majority(evidence, found, "lie higher on average over the curve"), None


def curve_trend(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The base loses accuracy as tasks are added, while SHARC gains."""
    entries = list(evidence.entries(claim["cells"]))
    slopes = {}
    for plus in (False, True):
        each = [
            _curve(evidence, entry, evidence.layout.variant(entry.scenario, plus=plus), slope=True)
            for entry in entries
        ]
        slopes[plus] = estimate(list(mean_by_seed([slope for slope in each if slope]).values()))
    base, with_sharc = slopes[False], slopes[True]
    if not base.n or not with_sharc.n:
        return not_tested(NO_CELLS), None
    verdict = UNDECIDED
    if with_sharc.direction == "down" or base.direction == "up":
        verdict = NOT_REPRODUCED
    elif with_sharc.direction == "up" and base.direction == "down":
        verdict = REPRODUCED
    text = (
        f"Slope per task: base {interval(base)}, with SHARC {interval(with_sharc)}, "
        "mean over methods."
    )
    numbers = figures(base, "base_slope") | figures(with_sharc, "sharc_slope")
    return Finding(verdict, text, numbers), None


def gain_trend(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The distance between the curves with and without SHARC grows from task to task."""
    growths = []
    for entry in evidence.entries(claim["cells"]):
        plus, base = (
            _curve(evidence, entry, evidence.layout.variant(entry.scenario, plus=which), slope=True)
            for which in (True, False)
        )
        if growth := difference(plus, base):
            growths.append(growth)
    if not growths:
        return not_tested(NO_CELLS), None
    found = estimate(list(mean_by_seed(growths).values()))
    text = f"From task to task the gain changes by {interval(found)}, mean over methods."
    return Finding(BY_DIRECTION[found.direction], text, figures(found, "growth")), None


def _curve(evidence: Evidence, entry: Entry, variant: str, *, slope: bool = False) -> Gains:
    """By seed: the mean of the learning curve after task 1, or its slope in points per task."""
    curves = evidence.results.curves
    mine = curves[
        (curves["dataset"] == entry.dataset)
        & (curves["backbone"] == evidence.layout.backbone_of(curves, entry.dataset))
        & (curves["method"] == entry.method)
        & (curves["variant"] == variant)
        & (curves["buffer"] == entry.buffer)
        & (curves["scenario"] == entry.scenario)
        & (curves["task"] > 1)
    ]
    return {
        int(seed): float(np.polyfit(curve["task"], curve["accuracy"], 1)[0])
        if slope
        else float(curve["accuracy"].mean())
        for seed, curve in mine.groupby("seed")
    }
