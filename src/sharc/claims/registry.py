"""Kinds of checks by name, and the reading of the claims' file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from sharc.claims import baselines, curves, figure1, footprint, gains, memories
from sharc.claims.evidence import CELL_KEYS, Evidence
from sharc.claims.finding import Finding
from sharc.errors import UserError, unknown
from sharc.results import labels
from sharc.results.verdicts import NOT_TESTED

Check = Callable[[Evidence, dict[str, Any]], tuple[Finding, Finding | None]]


class Kind(NamedTuple):
    """A check, in words when it says reproduced, not reproduced or undecided, and what it needs."""

    check: Check
    rule: str
    needs: tuple[str, ...] = ("cells",)


_COUNTED = (
    "reproduced if the intervals of more than half of the cells decide for it, not reproduced if "
    "at most half of the means point that way and more cells decide against it than for it, else "
    "undecided."
)
_SIGN = (
    "reproduced if the interval of the paired difference lies above zero, not reproduced if "
    "below, else undecided."
)
_ALL = (
    "reproduced if all are decided that way, not reproduced if one is decidedly not, else "
    "undecided."
)

KINDS: dict[str, Kind] = {
    "most_improve": Kind(gains.most_improve, f"Most cells gain: {_COUNTED}"),
    "all_improve": Kind(gains.all_improve, f"Every cell gains: {_ALL}"),
    "every_group_gains": Kind(
        gains.every_group_gains, f"Each data set, method and buffer gains on average: {_ALL}"
    ),
    "gain_about": Kind(
        gains.gain_about,
        "A gain of a given size: not reproduced if the interval ends below it (less half a digit "
        "where the paper says “approximately”), reproduced if the mean reaches it and the "
        "interval lies above zero, else undecided. Of several cells each must reach it.",
        ("cells", "points"),
    ),
    "larger_gain": Kind(
        gains.larger_gain, f"One mean gain exceeds another: {_SIGN}", ("cells", "than")
    ),
    "above_method": Kind(
        baselines.above_method,
        f"Most cells lie above a reference: {_COUNTED}",
        ("cells", "reference"),
    ),
    "upper_bound": Kind(
        baselines.upper_bound,
        "No cell lies above a reference: not reproduced if one decidedly does, reproduced if all "
        "lie decidedly below, else undecided.",
        ("cells", "reference"),
    ),
    "curves_above": Kind(
        curves.curves_above,
        f"Most curves lie higher, averaged over all tasks but the first: {_COUNTED}",
    ),
    "curve_trend": Kind(
        curves.curve_trend,
        "The base's curve falls and SHARC's rises: not reproduced if one of the two slopes is "
        "decidedly the opposite, reproduced if both are decided, else undecided.",
    ),
    "gain_trend": Kind(curves.gain_trend, f"The gain grows from task to task: {_SIGN}"),
    "memory_better": Kind(
        memories.memory_better,
        f"One memory's ACC exceeds another's: {_SIGN}",
        ("cells", "better", "than"),
    ),
    "optimum_between": Kind(
        memories.optimum_between,
        f"The best θ inside a range beats the best outside: {_SIGN} Undecided too if the best is "
        "the last one tried, below 1.",
        ("cells", "range"),
    ),
    "optimum_higher": Kind(
        memories.optimum_higher, f"One best θ exceeds another: {_SIGN}", ("cells", "than")
    ),
    "recall_near_perfect": Kind(
        memories.recall_near_perfect,
        "The recall error is a small share of that of zeros: reproduced if the interval ends "
        "below the share, not reproduced if it lies above, else undecided.",
        ("share",),
    ),
    "held": Kind(
        footprint.held,
        "Less memory is held: reproduced if so in every cell, by the means over seeds, not "
        "reproduced if in none, else undecided.",
        ("cells", "count"),
    ),
    "more_for_its_bytes": Kind(
        footprint.more_for_its_bytes,
        f"Most cells lie above the base with as many bytes: {_COUNTED}",
    ),
    "figure1_recall": Kind(
        figure1.figure1_recall,
        "One error is smaller than another: reproduced if so in every hard corruption, not "
        "reproduced if in none, else undecided. One set of images, no seeds.",
        ("level",),
    ),
}
_NEEDED = ("id", "section", "says", "kind")


def read(path: Path) -> list[dict[str, Any]]:
    """The claims, each with its needed keys and a known kind."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: restore it from Git.") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {error}") from None
    if not isinstance(entries, list):
        raise UserError(f"{path} must be a list of claims, not {entries!r}: restore it from Git.")
    for entry in entries:
        _check(path, entry)
    names = [entry["id"] for entry in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"{path}: the id {', '.join(twice)} is used twice.")
    return list(entries)


def _check(path: Path, entry: dict[str, Any]) -> None:
    """Refuse what a check would fail on or misread."""
    if absent := [key for key in _NEEDED if key not in entry]:
        raise UserError(f"{path}: an entry lacks {', '.join(absent)}: {entry}")
    if entry["kind"] not in KINDS:
        raise UserError(f"{path}, {entry['id']}: {unknown('kind', entry['kind'], KINDS)}")
    if absent := [key for key in KINDS[entry["kind"]].needs if key not in entry]:
        raise UserError(
            f"{path}, {entry['id']}: kind {entry['kind']} needs {', '.join(absent)} too."
        )
    for group in (entry.get("cells"), entry.get("than")):
        if isinstance(group, dict):  # not a memory's name
            _check_cells(f"{path}, {entry['id']}", group)


def _check_cells(where: str, cells: dict[str, Any]) -> None:
    """A misspelt key would silently widen a claim to all that the suite has."""
    if "scenario" not in cells:
        raise UserError(f"{where}: {cells} lacks its scenario.")
    for key in cells:
        if key not in CELL_KEYS:
            raise UserError(f"{where}: {unknown('key of cells', key, CELL_KEYS)}")


def _foreign(evidence: Evidence) -> str:
    """The suite's data sets if none of them is the paper's: a verdict on them is a rehearsal."""
    names = evidence.layout.datasets
    if any(name in labels.PAPER_COLUMN for name in names):
        return ""
    return ", ".join(labels.dataset(name) for name in names)


def evaluate(evidence: Evidence, claim: dict[str, Any]) -> dict[str, Any]:
    """One claim with our verdict and what the paper's own numbers say."""
    kind = KINDS[claim["kind"]]
    ours, paper = kind.check(evidence, claim)
    if ours.verdict != NOT_TESTED and (elsewhere := _foreign(evidence)):
        ours = replace(ours, text=f"{ours.text} (On {elsewhere}, which the paper does not use.)")
    if lost := evidence.lost(claim["cells"]) if "cells" in claim else 0:
        said = ours.text.removesuffix(".")
        ours = replace(ours, text=f"{said}. Planned cells without successful runs: {lost}.")
    rest = {key: value for key, value in claim.items() if key not in _NEEDED}
    return {
        **{key: claim[key] for key in _NEEDED},
        "test": rest,
        "rule": kind.rule,
        **ours.as_json(),
        "paper": None if paper is None else paper.as_json(),
    }
