"""Checks on theta, on the associative memories and on recall."""

from typing import Any

import numpy as np

from sharc.claims.evidence import Entry, Evidence, Gains
from sharc.claims.finding import Finding, figures, interval, not_tested
from sharc.claims.gains import Answer
from sharc.results import labels
from sharc.results.layout import SWEEP
from sharc.results.statistics import difference, estimate, mean_by_seed
from sharc.results.verdicts import BY_DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDECIDED


def memory_better(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """One associative memory gives a higher ACC than another, all else equal."""
    theta = evidence.layout.theta[claim["cells"]["scenario"]]
    found = {}
    for entry in evidence.entries(claim["cells"]):
        better, than = (
            evidence.seeds(entry, labels.variant(claim[name], theta)) for name in ("better", "than")
        )
        if both := difference(better, than):
            found[entry] = both
    if not found:
        return not_tested("this suite does not run both memories on the cells named"), None
    gap = estimate(list(mean_by_seed(list(found.values())).values()))
    text = (
        f"{labels.memory(claim['better'])} minus {labels.memory(claim['than'])}: {interval(gap)} "
        f"({', '.join(sorted({labels.method(p.method) for p in found}))}, θ = {theta:g})."
    )
    cells = [
        evidence.name(entry, labels.variant(claim[name], theta))
        for entry in found
        for name in ("better", "than")
    ]
    return Finding(BY_DIRECTION[gap.direction], text, figures(gap, "difference"), cells), None


def optimum_between(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The best theta lies in a range: best mean inside against best mean outside, paired."""
    low, high = claim["range"]
    gaps, best, cells = [], [], []
    for entry, by_theta in _sweeps(evidence, claim["cells"]).items():
        inside = {t: runs for t, runs in by_theta.items() if low - 1e-9 <= t <= high + 1e-9}
        outside = {t: runs for t, runs in by_theta.items() if t not in inside}
        if not inside or not outside:
            continue
        top, rival = (_best(group) for group in (inside, outside))
        gaps.append(difference(inside[top], outside[rival]))
        best.append((_best(by_theta), max(by_theta)))
        cells += [
            evidence.name(entry, labels.variant(evidence.layout.memory, t)) for t in (top, rival)
        ]
    if not gaps:
        return not_tested(_NO_SWEEP), None
    gap = estimate(list(mean_by_seed(gaps).values()))
    text = (
        f"Best θ: {', '.join(f'{theta:g}' for theta, _ in best)}. Best inside {low:g}–{high:g} "
        f"minus best outside: {interval(gap)}."
    )
    verdict = BY_DIRECTION[gap.direction]
    if any(theta == end < 1 for theta, end in best):
        text += f" The sweep ends at {max(end for _, end in best):g}: the optimum may lie beyond."
        verdict = UNDECIDED if verdict == REPRODUCED else verdict
    numbers = figures(gap, "difference") | {"best_theta": [theta for theta, _ in best]}
    return Finding(verdict, text, numbers, cells), None


def optimum_higher(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """One scenario's best theta is higher than the other's, seed by seed."""
    tops = []
    for cells in (claim["cells"], claim["than"]):
        each = [_best_by_seed(by_theta) for by_theta in _sweeps(evidence, cells).values()]
        tops.append(mean_by_seed(each))
    if not all(tops):
        return not_tested(_NO_SWEEP), None
    gap = estimate(list(difference(*tops).values()))
    means = [float(np.mean(list(top.values()))) for top in tops]
    text = (
        f"Best θ, mean over seeds and methods: {means[0]:.2f} against {means[1]:.2f}; difference "
        f"{interval(gap, '')}."
    )
    return Finding(BY_DIRECTION[gap.direction], text, figures(gap, "difference")), None


_NO_SWEEP = "this suite does not sweep θ on the cells named"


def _sweeps(evidence: Evidence, cells: dict[str, Any]) -> dict[Entry, dict[float, Gains]]:
    """Theta -> ACC by seed, of every named cell that was swept."""
    found = {entry: _sweep(evidence, entry) for entry in evidence.entries(cells)}
    return {entry: by_theta for entry, by_theta in found.items() if len(by_theta) >= SWEEP}


def _sweep(evidence: Evidence, entry: Entry) -> dict[float, Gains]:
    summary = evidence.results.summary
    thetas = summary.loc[summary["memory"] == evidence.layout.memory, "theta"].dropna().unique()
    runs = {
        float(theta): evidence.seeds(entry, labels.variant(evidence.layout.memory, theta))
        for theta in sorted(thetas)
    }
    return {theta: found for theta, found in runs.items() if found}


def _best(by_theta: dict[float, Gains]) -> float:
    return max(by_theta, key=lambda theta: float(np.mean(list(by_theta[theta].values()))))


def _best_by_seed(by_theta: dict[float, Gains]) -> Gains:
    seeds = set.intersection(*(set(runs) for runs in by_theta.values()))
    return {seed: max(by_theta, key=lambda theta: by_theta[theta][seed]) for seed in sorted(seeds)}


def recall_near_perfect(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """The recall error is a small share of the error of filling in zeros."""
    frame = evidence.results.recall
    memory, limit = evidence.layout.memory, float(claim["share"])
    frame = frame[frame["theta"].isin(set(evidence.layout.theta.values()))]
    frame = frame[frame["zero_fill_mse"] > 0]
    frame = frame.assign(share=frame["mse"] / frame["zero_fill_mse"])
    mine = frame[frame["memory"] == memory]
    if mine.empty:
        return not_tested("this suite recalls nothing"), None
    share = estimate(mine.groupby("seed")["share"].mean().tolist())
    ages = mine.groupby("age")["share"].mean()
    verdict = _BELOW[share.direction_from(limit)]
    text = (
        f"{labels.memory(memory)} leaves {100 * share.mean:.1f} % of the zero-fill error on "
        f"average, {100 * ages.iloc[0]:.1f} % at age {ages.index[0]} and {100 * ages.iloc[-1]:.1f} "
        f"% at age {ages.index[-1]}; “near-perfect” is read as at most {100 * limit:g} %."
    )
    others = frame[frame["memory"].isin(_LEARNED) & (frame["memory"] != memory)]
    if len(others):
        means = others.groupby("memory")["share"].mean()
        said = ", ".join(f"{labels.memory(str(m))} {100 * x:.1f} %" for m, x in means.items())
        text += f" Other memories, where they ran: {said}."
    by_age = {f"age_{age}": float(value) for age, value in ages.items()}
    return Finding(verdict, text, figures(share, "share") | by_age), None


# A claim that an error stays below a level, by where the error's interval lies.
_BELOW = {"down": REPRODUCED, "up": NOT_REPRODUCED, "undecided": UNDECIDED}
_LEARNED = ("bayes_pcn", "pcn", "modern_hopfield", "hopfield")  # the others are controls
