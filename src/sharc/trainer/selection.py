"""Values chosen on held-out training images: candidates are trained, scored, and one is kept.

A run's choice is its own, and one for each scenario: every seed trains each candidate on its
training images, takes the one with the best ACC on the validation images, and that one alone meets
the test images. So another seed changes no earlier run, and the spread over seeds includes that of
choosing. The one kept is not trained on the validation images either: it differs from a run under
fixed values in nothing but the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from sharc.engine.runs import Accuracies, RunResult, RunSpec
from sharc.errors import UserError
from sharc.metrics import acc

if TYPE_CHECKING:  # planning a build counts candidates too, and must not wait for torch
    from sharc.engine.task_stream import TaskStream

SCENARIOS = ("task_il", "class_il")
Values = Mapping[str, float]  # parameter -> value
TrainUnder = Callable[["TaskStream", Sequence[RunSpec], Values], list[RunResult]]


@dataclass(frozen=True)
class Choice:
    """What a run chose for a scenario, what the candidates scored, and the run under it."""

    values: Values
    candidates: list[dict[str, Any]]  # values and `validation_acc`, None where the run diverged
    result: RunResult

    def recorded(self) -> dict[str, Any]:
        """The choice as it is written to the run's record."""
        return {
            "values": dict(self.values),
            "candidates": self.candidates,
            "ledger": self.result.ledger,
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
    train_under: TrainUnder,
) -> list[dict[str, Choice]]:
    """What every run chose for each scenario, in the order of `runs`.

    `train_under(stream, runs, values)` trains runs under one candidate; the stream it is given
    holds the validation images where the test images were, until the choice is made.
    """
    validation = stream.on_validation()
    results = [train_under(validation, runs, values) for values in among]
    scores = {scenario: [_scores(found, scenario) for found in results] for scenario in SCENARIOS}
    best = {
        (run, scenario): _best([of_candidate[run] for of_candidate in scores[scenario]])
        for run in range(len(runs))
        for scenario in SCENARIOS
    }
    tested: dict[tuple[int, int], RunResult] = {}
    for candidate in sorted(set(best.values())):
        mine = sorted({run for (run, _), chosen in best.items() if chosen == candidate})
        done = train_under(stream, [runs[run] for run in mine], among[candidate])
        tested |= {(run, candidate): result for run, result in zip(mine, done, strict=True)}
    return [
        {
            scenario: Choice(
                among[candidate := best[run, scenario]],
                _listed(among, scores[scenario], run),
                tested[run, candidate],
            )
            for scenario in SCENARIOS
        }
        for run in range(len(runs))
    ]


def joined(choices: Mapping[str, Choice]) -> RunResult:
    """One result with each scenario's accuracies from the run chosen for it.

    If the two are different runs, only the choices say what the memory held.
    """
    task_il, class_il = (choices[scenario].result for scenario in SCENARIOS)
    if task_il is class_il:
        return task_il
    failed = next((one for one in (task_il, class_il) if one.status != "ok"), task_il)
    return replace(
        task_il,
        accuracy=Accuracies(class_il.accuracy.class_il, task_il.accuracy.task_il),
        heads={
            name: Accuracies(class_il.heads[name].class_il, head.task_il)
            for name, head in task_il.heads.items()
        },
        ledger={},
        recall=[],
        status=failed.status,
        message=failed.message,
    )


def _scores(results: Sequence[RunResult], scenario: str) -> list[float | None]:
    """ACC of each run on the validation images."""
    return [
        acc(getattr(result.accuracy, scenario)) if result.status == "ok" else None
        for result in results
    ]


def _best(scores: Sequence[float | None]) -> int:
    """The index of the highest score; the first of several, or if all diverged."""
    known = [float("-inf") if score is None else score for score in scores]
    return known.index(max(known))


def _listed(
    among: Sequence[Values], scores: Sequence[Sequence[float | None]], run: int
) -> list[dict[str, Any]]:
    return [
        {**values, "validation_acc": of_candidate[run]}
        for values, of_candidate in zip(among, scores, strict=True)
    ]
