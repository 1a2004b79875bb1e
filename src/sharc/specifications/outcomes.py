"""What every specification says on each question: gains, paired by seed, from the runs' ACC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sharc.results.layout import SCENARIOS
from sharc.results.statistics import difference
from sharc.specifications.arms import CONTRASTS
from sharc.specifications.curve import Curve, Gains, curve
from sharc.specifications.factors import Factor, Specification

Scores = Mapping[tuple[str, str], Gains]  # (run, scenario) -> seed -> ACC


@dataclass(frozen=True)
class Questions:
    """The design and, for each specification, which runs its arms are."""

    factors: list[Factor]
    specifications: list[Specification]
    sample: set[str]  # ids of the random part, on which effects are fitted
    runs: Mapping[tuple[str, str, str], str]  # (specification, arm, scenario) -> run
    illegal: list[tuple[Specification, str]]

    @classmethod
    def of(cls, layout: Mapping[str, Any]) -> "Questions":
        """From the plain values that the stage is given."""
        return cls(
            [Factor(f["name"], f["key"], tuple(f["values"]), f["why"]) for f in layout["factors"]],
            [Specification(found["choices"]) for found in layout["specifications"]],
            {Specification(s["choices"]).id for s in layout["specifications"] if s["sample"]},
            {(a["specification"], a["arm"], a["scenario"]): a["run"] for a in layout["arms"]},
            [(Specification(found["choices"]), found["why"]) for found in layout["illegal"]],
        )

    @property
    def default(self) -> Specification:
        """Every factor at its default."""
        return Specification({factor.name: factor.default for factor in self.factors})


@dataclass(frozen=True)
class Outcome:
    """The answers to one question in one scenario."""

    contrast: str  # a key of CONTRASTS
    scenario: str
    gains: Mapping[str, Gains]  # by specification; empty where a run is missing
    curve: Curve


def outcomes(questions: Questions, scores: Scores) -> list[Outcome]:
    """Every question in both scenarios; a specification that cannot be asked is left out."""
    return [
        _outcome(questions, scores, contrast, scenario)
        for contrast in CONTRASTS
        for scenario in SCENARIOS
    ]


def _outcome(questions: Questions, scores: Scores, contrast: str, scenario: str) -> Outcome:
    arms = CONTRASTS[contrast]
    gains: dict[str, Gains] = {}
    asked: list[tuple[Specification, Gains]] = []
    for spec in questions.specifications:
        runs = [questions.runs.get((spec.id, arm, scenario)) for arm in arms]
        if None in runs:
            continue
        one, other = (scores.get((str(run), scenario), {}) for run in runs)
        gains[spec.id] = difference(one, other)
        asked.append((spec, gains[spec.id]))
    return Outcome(contrast, scenario, gains, curve(asked))


def sampled(questions: Questions, outcome: Outcome) -> tuple[list[Specification], list[float]]:
    """The specifications of the random part that have a gain, and their mean gains."""
    points = [p for p in outcome.curve.points if p.specification.id in questions.sample]
    return [p.specification for p in points], [p.gain.mean for p in points]


def flips(questions: Questions, outcome: Outcome) -> Sequence[tuple[str, str, str]]:
    """Factor, value and new direction of each choice that alone changes the default's direction."""
    directions = {p.specification.id: p.gain.direction for p in outcome.curve.points}
    before = directions.get(questions.default.id)
    found = []
    for factor in questions.factors:
        for value in factor.values[1:]:
            varied = questions.default.changed(**{factor.name: value})
            after = directions.get(varied.id)
            if before is not None and after is not None and after != before:
                found.append((factor.name, str(value), after))
    return found
