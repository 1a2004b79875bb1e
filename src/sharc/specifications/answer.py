"""The answer in three sentences: when SHARC helps, when it does not, and what is the reason.

Counted are the specifications of the random sample that keep both of the paper's ideas. The factor
named is that of the fitted effect on the gain with the smallest p-value below 5 % after Holm's
adjustment (of equal ones the largest), among values that at least five specifications make;
without one, none is named. An idea contributes to the gains in a scenario by the rule of the claims
on most cases: if more than half of the specifications are decided for it. It does not if at most
half of the means even point there and more are decided against it than for it. Otherwise, we
could not show that it does.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from sharc.results import labels
from sharc.results.labels import listed
from sharc.specifications.arms import CONTRASTS, CONTROLS
from sharc.specifications.curve import Curve, curve
from sharc.specifications.factors import Factor, Value
from sharc.specifications.outcomes import Outcome, Questions
from sharc.specifications.words import points, spoken

ORDER = ("class_il", "task_il")
LEVEL = 0.05
_FEWEST = 5  # specifications that make a choice, or it is not named
YES, NO, OPEN = "yes", "no", "open"
Found = Mapping[tuple[str, str], Outcome]  # by contrast and scenario


class Choice(NamedTuple):
    """The specifications that make a choice, in one scenario."""

    factor: Factor
    value: Value
    scenario: str
    made: Curve

    @property
    def phrase(self) -> str:
        """`data set S-CIFAR-100 (Class-IL: 30 of 41, median +2.5)`."""
        return (
            f"{spoken(self.factor, self.value)} ({labels.scenario(self.scenario)}: "
            f"{self.made.directions['up']} of {len(self.made.points)}, median "
            f"{points(self.made.median)})"
        )


def sentences(questions: Questions, found: Found, effects: pd.DataFrame) -> list[str]:
    """All three; none where the suite does not ask all three questions."""
    if any(not outcome.kept.points for outcome in found.values()):
        return []
    choices = decisive(questions, found, effects)
    gain, saliency, recall = (
        [found[contrast, scenario] for scenario in ORDER] for contrast in CONTRASTS
    )
    medians = listed(points(outcome.kept.median) for outcome in gain)
    why = reasons({"saliency": saliency, "associative recall": recall})
    return [
        f"SHARC helps in {_counts(gain, ' specifications')} (median change {medians} points)"
        f"{f', most often with {choices[-1].phrase}' if choices else ''}.",
        f"It hurts in {_losses(gain)}, and the others are undecided"
        f"{f'; it helps least often with {choices[0].phrase}' if choices else _NO_CHOICE}.",
        f"Salient channels beat random ones in {_counts(saliency)}, and associative recall beats "
        f"zeros in {_counts(recall)}. {why[0].upper()}{why[1:]}.",
    ]


_NO_CHOICE = ". We could not trace the difference to any single choice"


def _counts(asked: Sequence[Outcome], noun: str = "") -> str:
    """`40 of 76 specifications in Class-IL and 20 of 76 in Task-IL`."""
    return listed(
        f"{outcome.kept.directions['up']} of {len(outcome.kept.points)}"
        f"{noun * (outcome is asked[0])} in {labels.scenario(outcome.scenario)}"
        for outcome in asked
    )


def _losses(asked: Sequence[Outcome]) -> str:
    """`5 of them in Class-IL and none in Task-IL`."""
    counts = {labels.scenario(o.scenario): o.kept.directions["down"] for o in asked}
    if not any(counts.values()):
        return "none of them"
    (first, count), *rest = counts.items()
    said = [
        f"{count or 'none'} of them in {first}",
        *(f"{n or 'none'} in {name}" for name, n in rest),
    ]
    return listed(said)


def decisive(questions: Questions, found: Found, effects: pd.DataFrame) -> Sequence[Choice]:
    """The values of the factor that the gain depends on most, by their share of gains.

    An effect of a value that too few specifications make names no factor: its value could not be
    among those that are then compared.
    """
    if effects.empty:
        return []
    named = {f.name: f for f in questions.factors if f.key not in CONTROLS}
    clear = effects[
        (effects["contrast"] == "gain")
        & (effects["p_holm"] < LEVEL)
        & effects["factor"].isin(list(named))
    ]
    ranked = clear.assign(size=-clear["effect"].abs()).sort_values(
        ["p_holm", "size"], kind="stable"
    )
    for row in ranked.to_dict("records"):
        choices = _choices(named[row["factor"]], found["gain", row["scenario"]])
        if len(choices) > 1 and row["value"] in {str(choice.value) for choice in choices}:
            return sorted(choices, key=_share)
    return []


def _choices(factor: Factor, outcome: Outcome) -> list[Choice]:
    """The values that enough specifications make."""
    choices = [
        Choice(factor, value, outcome.scenario, _made(outcome, factor, value))
        for value in factor.values
    ]
    return [choice for choice in choices if len(choice.made.points) >= _FEWEST]


def _share(choice: Choice) -> tuple[float, float]:
    return choice.made.directions["up"] / len(choice.made.points), choice.made.median


def _made(outcome: Outcome, factor: Factor, value: Value) -> Curve:
    """The part of the curve with this choice."""
    specs = [point.specification for point in outcome.kept.points]
    return curve(
        [(spec, outcome.gains[spec.id]) for spec in specs if spec.choices[factor.name] == value]
    )


def verdict(curve: Curve) -> str:
    """Whether most specifications point up: the rule of the paper's claims on most cases."""
    counts, total = curve.directions, len(curve.points)
    if counts["up"] > total / 2:
        return YES
    positive = sum(point.gain.mean > 0 for point in curve.points)
    return NO if positive <= total / 2 and counts["down"] > counts["up"] else OPEN


def reasons(ideas: Mapping[str, Sequence[Outcome]]) -> str:
    """Whether the two ideas contribute to the gains, in words."""
    (first, one), (second, other) = ((name, _role(asked)) for name, asked in ideas.items())
    if one == other:
        return _BOTH[one.does].format(first, second) + one.only
    said = _FIRST[one.does].format(first) + one.only
    return f"{said}; {_SECOND[other.does].format(second)}{other.only}"


class _Role(NamedTuple):
    """Whether an idea contributes to the gains, and where alone."""

    does: str
    only: str = ""


_FIRST = {
    YES: "{} contributes to the gains",
    NO: "{} does not contribute to the gains",
    OPEN: "we could not show that {} contributes to the gains",
}
_SECOND = {YES: "{} does", NO: "{} does not", OPEN: "for {} we could not show it"}
_BOTH = {
    YES: "both {} and {} contribute to the gains",
    NO: "neither {} nor {} contributes to the gains",
    OPEN: "we could not show that {} or {} contributes to the gains",
}


def _role(asked: Sequence[Outcome]) -> _Role:
    """Yes in one scenario is enough; no needs both."""
    found = {labels.scenario(outcome.scenario): verdict(outcome.kept) for outcome in asked}
    holds = [name for name, said in found.items() if said == YES]
    if holds:
        partly = len(holds) < len(found)
        return _Role(YES, f", but we could show it in {listed(holds)} only" if partly else "")
    return _Role(NO if set(found.values()) == {NO} else OPEN)
