"""What every specification says on each question: gains, paired by seed, from the runs' ACC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sharc.results.layout import SCENARIOS
from sharc.results.statistics import difference
from sharc.specifications.arms import CONTRASTS, CONTROLS
from sharc.specifications.curve import Curve, Gains, curve
from sharc.specifications.factors import Factor, Specification, Value

Scores = Mapping[tuple[str, str], Gains]  # (run, scenario) -> seed -> ACC


@dataclass(frozen=True)
class Questions:
    """The design and, for each specification, which runs its arms are."""

    factors: list[Factor]
    specifications: list[Specification]
    sample: set[str]  # ids of the random part, on which effects are fitted
    runs: Mapping[tuple[str, str], str]  # (specification, arm) -> run
    illegal: list[tuple[Specification, str]]
    fixed: Mapping[str, Value] = field(default_factory=dict)  # where no factor sets these keys

    @classmethod
    def of(cls, layout: Mapping[str, Any]) -> "Questions":
        """From the plain values that the stage is given."""
        return cls(
            [Factor(f["name"], f["key"], tuple(f["values"]), f["why"]) for f in layout["factors"]],
            [Specification(found["choices"]) for found in layout["specifications"]],
            {Specification(s["choices"]).id for s in layout["specifications"] if s["sample"]},
            {(a["specification"], a["arm"]): a["run"] for a in layout["arms"]},
            [(Specification(found["choices"]), found["why"]) for found in layout["illegal"]],
            layout.get("fixed", {}),
        )

    @property
    def default(self) -> Specification:
        """Every factor at its default."""
        return Specification({factor.name: factor.default for factor in self.factors})

    def varied(self, factor: Factor, value: Value) -> Specification:
        """The default but for one choice."""
        return self.default.changed(**{factor.name: value})

    def value(self, specification: Specification, key: str) -> Value | None:
        """What a specification has for a parameter, by a factor or as the suite fixes it."""
        name = next((factor.name for factor in self.factors if factor.key == key), None)
        return self.fixed.get(key) if name is None else specification.choices[name]

    def counts(self, specification: Specification) -> bool:
        """Whether it is of the random sample and has salient channels and an associative memory.

        The one-at-a-time runs all surround one specification and would outvote the others, and
        without the paper's two ideas a specification says nothing about its claims.
        """
        whole = all(self.value(specification, key) not in CONTROLS[key] for key in CONTROLS)
        return whole and specification.id in self.sample


@dataclass(frozen=True)
class Outcome:
    """The answers to one question in one scenario."""

    contrast: str  # a key of CONTRASTS
    scenario: str
    gains: Mapping[str, Gains]  # by specification; empty where a run is missing
    curve: Curve
    kept: Curve  # those of the random sample that keep both of the paper's ideas


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
        runs = [questions.runs.get((spec.id, arm)) for arm in arms]
        if None in runs:
            continue
        one, other = (scores.get((str(run), scenario), {}) for run in runs)
        gains[spec.id] = difference(one, other)
        asked.append((spec, gains[spec.id]))
    kept = [(spec, found) for spec, found in asked if questions.counts(spec)]
    return Outcome(contrast, scenario, gains, curve(asked), curve(kept))


def sampled(questions: Questions, outcome: Outcome) -> tuple[list[Specification], list[float]]:
    """The specifications of the random part that have a gain, and their mean gains."""
    points = [p for p in outcome.curve.points if p.specification.id in questions.sample]
    return [p.specification for p in points], [p.gain.mean for p in points]


def flips(questions: Questions, said: Mapping[str, str]) -> Sequence[tuple[Factor, Value, str]]:
    """Factor, value and new word of each choice that alone changes what is said of the default.

    `said` is a word for each specification, by id.
    """
    before = said.get(questions.default.id)
    if before is None:
        return []
    return [
        (factor, value, after)
        for factor in questions.factors
        for value in factor.values[1:]
        if (after := said.get(questions.varied(factor, value).id, before)) != before
    ]
