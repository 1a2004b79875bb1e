"""The paper's sentences on gains, checked in every specification that a sentence is about."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sharc.claims import gains
from sharc.results import labels
from sharc.results.statistics import Estimate
from sharc.results.verdicts import (
    BY_DIRECTION,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    interval,
)
from sharc.specifications.effects import FEWEST, between
from sharc.specifications.factors import Specification
from sharc.specifications.outcomes import Outcome, Questions, sampled
from sharc.specifications.words import changed

AXES = {"datasets": "dataset", "methods": "method", "buffers": "buffer"}
Json = dict[str, Any]


def answers(
    questions: Questions, outcomes: Mapping[tuple[str, str], Outcome], claims: Sequence[Json]
) -> list[Json]:
    """In how many specifications each sentence holds; sentences that none can decide are left out.

    `outcomes` are SHARC's gains by metric and scenario. A specification counts as it does for the
    answer, if it has the data set, method and buffer that the sentence names; fitted effects are
    those of the whole sample, in which the controls are values like others.
    """
    found = []
    for claim in claims:
        if claim["kind"] not in {*_VERDICT, "larger_gain"}:
            continue
        cells = claim["cells"]
        outcome = outcomes[cells.get("metric", "acc"), cells["scenario"]]
        answer = _compared if claim["kind"] == "larger_gain" else _counted
        if said := answer(questions, outcome, claim):
            found.append({key: claim[key] for key in ("id", "says", "section")} | said)
    return found


def _counted(questions: Questions, outcome: Outcome, claim: Json) -> Json:
    """The sentence's own rule, applied to the one cell of a specification."""
    cells, rule = claim["cells"], _VERDICT[claim["kind"]]
    about = [p for p in outcome.kept.points if _is_about(questions, p.specification, cells)]
    if not about:
        return {}
    each = [rule(point.gain, claim) for point in about]
    counts = {word: each.count(word) for word in (REPRODUCED, NOT_REPRODUCED, UNDECIDED)}
    median = round(float(np.median([point.gain.mean for point in about])), 6)
    text = (
        f"Holds in {counts[REPRODUCED]} of {len(about)} specification{'s' * (len(about) != 1)}, "
        f"does not in {counts[NOT_REPRODUCED]}, undecided in {counts[UNDECIDED]}; median gain "
        f"{labels.signed(median, 1)} points."
    )
    all_of_it = {
        point.specification.id: rule(point.gain, claim)
        for point in outcome.curve.points
        if _is_about(questions, point.specification, cells)
    }
    if questions.default.id in all_of_it:
        before = all_of_it[questions.default.id]
        text += f" The default: {before}; {changed(questions, all_of_it)}."
    return {"specifications": len(about), "counts": counts, "median": median, "text": text}


def _compared(questions: Questions, outcome: Outcome, claim: Json) -> Json:
    """The difference of two groups' fitted effects, if they differ in only one thing."""
    named = {
        key: [group.get(plural, "any") for group in (claim["cells"], claim["than"])]
        for plural, key in AXES.items()
    }
    named = {key: groups for key, groups in named.items() if groups != ["any", "any"]}
    specs, means = sampled(questions, outcome)
    if len(named) != 1 or len(specs) < FEWEST:
        return {}
    [(key, (ones, others))] = named.items()
    fitted = between(questions.factors, specs, means, key, (ones, others))
    if fitted is None:
        return {}
    gap, low, high = fitted
    verdict = BY_DIRECTION[Estimate(len(specs), gap, low=low, high=high).direction]
    return {
        "specifications": len(specs),
        "text": f"{verdict.capitalize()} by the fitted effects over {len(specs)} specifications: "
        f"the difference of the gains is {interval(gap, low, high, 'points')}.",
    }


def _is_about(questions: Questions, spec: Specification, cells: Json) -> bool:
    """Whether a specification has the data set, method and buffer that a sentence names."""
    return all(
        cells.get(plural, "any") == "any" or questions.value(spec, key) in cells[plural]
        for plural, key in AXES.items()
    )


def _improves(gain: Estimate, claim: Json) -> str:
    return BY_DIRECTION[gain.direction]


def _reaches(gain: Estimate, claim: Json) -> str:
    return gains.reaches(gain, float(claim["points"]) - claim.get("tolerance", 0))


_VERDICT: dict[str, Callable[[Estimate, Json], str]] = {
    "most_improve": _improves,
    "all_improve": _improves,
    "every_group_gains": _improves,
    "gain_about": _reaches,
}
