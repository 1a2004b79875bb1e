"""Kinds of checks by name, and the reading of the claims' file."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from sharc.errors import UserError, unknown
from sharc.results import labels
from sharc.results.claims import curves, gains, memories, motivation, references
from sharc.results.claims.evidence import Evidence
from sharc.results.claims.finding import Finding
from sharc.results.verdicts import NOT_TESTED

Check = Callable[[Evidence, dict[str, Any]], tuple[Finding, Finding | None]]
KINDS: dict[str, Check] = {
    "most_improve": gains.most_improve,
    "all_improve": gains.all_improve,
    "gain_about": gains.gain_about,
    "larger_gain": gains.larger_gain,
    "above_method": references.above_method,
    "upper_bound": references.upper_bound,
    "curves_above": curves.curves_above,
    "curve_trend": curves.curve_trend,
    "memory_better": memories.memory_better,
    "optimum_between": memories.optimum_between,
    "recall_near_perfect": memories.recall_near_perfect,
    "held": memories.held,
    "figure1_recall": motivation.figure1_recall,
}
_NEEDED = ("id", "place", "says", "kind")


def read(path: Path) -> list[dict[str, Any]]:
    """The claims, each with its needed keys and a known kind."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: restore it from Git.") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {error}") from None
    for entry in entries:
        if absent := [key for key in _NEEDED if key not in entry]:
            raise UserError(f"{path}: an entry lacks {', '.join(absent)}: {entry}")
        if entry["kind"] not in KINDS:
            raise UserError(f"{path}, {entry['id']}: {unknown('kind', entry['kind'], KINDS)}")
    names = [entry["id"] for entry in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"{path}: the id {', '.join(twice)} is used twice.")
    return list(entries)


def _foreign(evidence: Evidence) -> str:
    """The suite's data sets if none of them is the paper's: a verdict on them is a rehearsal."""
    names = evidence.layout.datasets
    if any(name in labels.PAPER_COLUMN for name in names):
        return ""
    return ", ".join(labels.dataset(name) for name in names)


def evaluate(evidence: Evidence, claim: dict[str, Any]) -> dict[str, Any]:
    """One claim with our verdict and what the paper's own numbers say."""
    ours, paper = KINDS[claim["kind"]](evidence, claim)
    if ours.verdict != NOT_TESTED and (elsewhere := _foreign(evidence)):
        ours = replace(ours, text=f"{ours.text} (On {elsewhere}, which the paper does not use.)")
    if lost := evidence.lost(claim["cells"]) if "cells" in claim else 0:
        ours = replace(ours, text=f"{ours.text} Planned but without runs that ended well: {lost}.")
    rest = {key: value for key, value in claim.items() if key not in _NEEDED}
    return {
        **{key: claim[key] for key in _NEEDED},
        "test": rest,
        **ours.as_json(),
        "paper": None if paper is None else paper.as_json(),
    }
