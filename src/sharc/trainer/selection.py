"""Values chosen on held-out training images: candidates are trained, scored, and one is kept.

A run's choice is its own: every seed trains each candidate on its training images, takes the one
with the best ACC on the validation images, and that one alone meets the test images. So another
seed changes no earlier run, and the spread over seeds includes that of choosing. The one kept is
not trained on the validation images either: it differs from a run under fixed values in nothing
but the values.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sharc.engine.runs import RunResult, RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.metrics import acc

Values = Mapping[str, float]  # parameter -> value
TrainUnder = Callable[[TaskStream, Sequence[RunSpec], Values], list[RunResult]]


@dataclass(frozen=True)
class Choice:
    """What a run chose, for which scenario, and what the candidates scored."""

    scenario: str  # task_il or class_il
    values: Values
    candidates: list[dict[str, Any]]  # values and `validation_acc`, None where the run diverged

    def told(self) -> dict[str, Any]:
        """The same for the run's record."""
        return {
            "scenario": self.scenario,
            "values": dict(self.values),
            "candidates": self.candidates,
        }


def candidates(given: Mapping[str, Sequence[float]]) -> list[Values]:
    """Every combination of the values to choose from, the first of each first."""
    if empty := [name for name, values in given.items() if not values]:
        raise UserError(f"select.{empty[0]} lists no value: list at least two, or drop the key.")
    return [dict(zip(given, values, strict=True)) for values in product(*given.values())]


def train_selected(
    stream: TaskStream,
    runs: Sequence[RunSpec],
    among: Sequence[Values],
    scenario: str,
    train_under: TrainUnder,
) -> list[tuple[RunResult, Choice]]:
    """The result of every run under the values it chose, in the order of `runs`.

    `train_under(stream, runs, values)` trains runs under one candidate; the stream it is given
    holds the validation images where the test images were, until the choice is made.
    """
    validation = stream.on_validation()
    scores = [_scores(train_under(validation, runs, values), scenario) for values in among]
    best = [_best([of_candidate[run] for of_candidate in scores]) for run in range(len(runs))]
    results: dict[int, RunResult] = {}
    for place in sorted(set(best)):
        mine = [run for run, chosen in enumerate(best) if chosen == place]
        done = train_under(stream, [runs[run] for run in mine], among[place])
        results.update(zip(mine, done, strict=True))
    return [
        (results[run], Choice(scenario, among[best[run]], _listed(among, scores, run)))
        for run in range(len(runs))
    ]


def _scores(results: Sequence[RunResult], scenario: str) -> list[float | None]:
    """ACC of each run on the validation images."""
    return [
        acc(getattr(result.accuracy, scenario)) if result.status == "ok" else None
        for result in results
    ]


def _best(scores: Sequence[float | None]) -> int:
    """The place of the highest score; of equal ones, and where all diverged, the first."""
    known = [float("-inf") if score is None else score for score in scores]
    return known.index(max(known))


def _listed(
    among: Sequence[Values], scores: Sequence[Sequence[float | None]], run: int
) -> list[dict[str, Any]]:
    return [
        {**values, "validation_acc": of_candidate[run]}
        for values, of_candidate in zip(among, scores, strict=True)
    ]
