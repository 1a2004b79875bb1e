"""Checks on theta, on the associative memories, on recall, and on what is held."""

from typing import Any

import numpy as np
import pandas as pd

from sharc.results import labels
from sharc.results.claims.evidence import Evidence, difference
from sharc.results.claims.finding import Finding, figures, interval, not_tested
from sharc.results.claims.gains import NO_CELLS, Answer
from sharc.results.statistics import estimate, mean_by_seed
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED

_BY_DIRECTION = {"up": REPRODUCED, "down": NOT_REPRODUCED, "undecided": UNDECIDED}


def memory_better(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """One associative memory gives a higher ACC than another, all else equal."""
    theta = evidence.layout.theta[claim["cells"]["scenario"]]
    found = {}
    for place in evidence.places(claim["cells"]):
        better, than = (
            evidence.seeds(place, labels.variant(claim[name], theta)) for name in ("better", "than")
        )
        if both := difference(better, than):
            found[place] = both
    if not found:
        return not_tested("this suite does not run both memories on the cells named"), None
    gap = estimate(list(mean_by_seed(list(found.values())).values()))
    text = (
        f"{labels.memory(claim['better'])} minus {labels.memory(claim['than'])}: {interval(gap)} "
        f"({', '.join(sorted({labels.method(p.method) for p in found}))}, θ = {theta:g})."
    )
    cells = [
        evidence.name(place, labels.variant(claim[name], theta))
        for place in found
        for name in ("better", "than")
    ]
    return Finding(_BY_DIRECTION[gap.direction], text, figures(gap, "difference"), cells), None


def optimum_between(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The best theta lies in a range: best mean inside against best mean outside, paired."""
    low, high = claim["range"]
    gaps, best, cells = [], [], []
    for place in evidence.places(claim["cells"]):
        by_theta = _sweep(evidence, place)
        inside = {t: runs for t, runs in by_theta.items() if low - 1e-9 <= t <= high + 1e-9}
        outside = {t: runs for t, runs in by_theta.items() if t not in inside}
        if len(by_theta) < 4 or not inside or not outside:
            continue
        means = {theta: float(np.mean(list(runs.values()))) for theta, runs in by_theta.items()}
        top, rival = (max(group, key=means.__getitem__) for group in (inside, outside))
        gaps.append(difference(inside[top], outside[rival]))
        best.append(max(means, key=means.__getitem__))
        cells += [
            evidence.name(place, labels.variant(evidence.layout.memory, t)) for t in (top, rival)
        ]
    if not gaps:
        return not_tested("this suite does not sweep θ on the cells named"), None
    gap = estimate(list(mean_by_seed(gaps).values()))
    text = (
        f"Best θ: {', '.join(f'{theta:g}' for theta in best)}. Best inside {low:g}–{high:g} minus "
        f"best outside: {interval(gap)}."
    )
    numbers = figures(gap, "difference") | {"best_theta": best}
    return Finding(_BY_DIRECTION[gap.direction], text, numbers, cells), None


def _sweep(evidence: Evidence, place: Any) -> dict[float, dict[int, float]]:
    summary = evidence.results.summary
    thetas = summary.loc[summary["memory"] == evidence.layout.memory, "theta"].dropna().unique()
    runs = {
        float(theta): evidence.seeds(place, labels.variant(evidence.layout.memory, theta))
        for theta in sorted(thetas)
    }
    return {theta: found for theta, found in runs.items() if found}


def recall_near_perfect(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The recall error is a small share of the error of leaving zeros in place."""
    frame = evidence.results.recall
    memory, limit = evidence.layout.memory, float(claim["share"])
    thetas = set(evidence.layout.theta.values())
    frame = frame[(frame["memory"] == memory) & frame["theta"].isin(thetas)]
    frame = frame[frame["zero_fill_mse"] > 0]
    if frame.empty:
        return not_tested("this suite recalls nothing"), None
    frame = frame.assign(share=frame["mse"] / frame["zero_fill_mse"])
    share = estimate(frame.groupby("seed")["share"].mean().tolist())
    ages = frame.groupby("age")["share"].mean()
    verdict = UNDECIDED
    if share.high <= limit:
        verdict = REPRODUCED
    elif share.low > limit:
        verdict = NOT_REPRODUCED
    text = (
        f"{labels.memory(memory)} leaves {100 * share.mean:.1f} % of the zero-fill error on "
        f"average, {100 * ages.iloc[0]:.1f} % at age {ages.index[0]} and {100 * ages.iloc[-1]:.1f} "
        f"% at age {ages.index[-1]}; “near-perfect” is read as at most {100 * limit:g} %."
    )
    by_age = {f"age_{age}": float(value) for age, value in ages.items()}
    return Finding(verdict, text, figures(share, "share") | by_age), None


def held(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """SHARC holds less than its base: per stored sample, or in total and in all its parts."""
    ratios, cells = [], []
    for place in evidence.places(claim["cells"]):
        plus = evidence.layout.variant(place.scenario, plus=True)
        one, other = (_size(evidence, place, v, claim["count"]) for v in (plus, "dense"))
        if one is not None and other:
            ratios.append(one / other)
            cells.append(evidence.name(place))
    if not ratios:
        return not_tested(NO_CELLS), None
    fewer = sum(ratio < 1 for ratio in ratios)
    verdict = {len(ratios): REPRODUCED, 0: NOT_REPRODUCED}.get(fewer, UNDECIDED)
    what = {
        "values_per_item": "kept values per stored sample",
        "total_bytes": "bytes held in all, the associative memory included",
    }[claim["count"]]
    text = (
        f"With SHARC over without, {what}: {min(ratios):.2f} to {max(ratios):.2f} times, "
        f"median {float(np.median(ratios)):.2f}; less in {fewer} of {len(ratios)} cells."
    )
    numbers = {"cells": len(ratios), "less": fewer, "median_ratio": float(np.median(ratios))}
    return Finding(verdict, text, numbers, cells), None


def _size(evidence: Evidence, place: Any, variant: str, count: str) -> float | None:
    def mean(name: str) -> float | None:
        values = list(evidence.seeds(place, variant, name).values())
        return float(np.mean(values)) if values and not pd.isna(values).any() else None

    if count == "total_bytes":
        return mean("total_bytes")
    floats, items = mean("counted_floats"), mean("items")
    return None if floats is None or not items else floats / items
