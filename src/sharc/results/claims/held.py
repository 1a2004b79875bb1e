"""Checks on what is held: per stored sample, and accuracy for equal bytes."""

from typing import Any

import numpy as np
import pandas as pd

from sharc.errors import UserError, unknown
from sharc.results.claims.evidence import Evidence, Place
from sharc.results.claims.finding import Finding, not_tested
from sharc.results.claims.gains import NO_CELLS, Answer, majority
from sharc.results.equal_bytes import SLACK, equal_base
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED

_COUNTS = {
    "counted_floats": "kept values per stored sample",
    "total_bytes": "bytes per stored sample, its share of the associative memory included",
}


def held(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """SHARC holds less per stored sample than its base."""
    if claim["count"] not in _COUNTS:
        raise UserError(f"claim {claim.get('id')}: {unknown('count', claim['count'], _COUNTS)}")
    ratios, cells = [], []
    for place in evidence.places(claim["cells"]):
        plus = evidence.layout.variant(place.scenario, plus=True)
        one, other = (_per_item(evidence, place, v, claim["count"]) for v in (plus, "dense"))
        if one is not None and other:
            ratios.append(one / other)
            cells.append(evidence.name(place))
    if not ratios:
        return not_tested(NO_CELLS), None
    fewer = sum(ratio < 1 for ratio in ratios)
    verdict = {len(ratios): REPRODUCED, 0: NOT_REPRODUCED}.get(fewer, UNDECIDED)
    text = (
        f"With SHARC over without, {_COUNTS[claim['count']]}: {min(ratios):.2f} to "
        f"{max(ratios):.2f} times, median {float(np.median(ratios)):.2f}; less in {fewer} of "
        f"{len(ratios)} cells."
    )
    numbers = {"cells": len(ratios), "less": fewer, "median_ratio": float(np.median(ratios))}
    return Finding(verdict, text, numbers, cells), None


def _per_item(evidence: Evidence, place: Place, variant: str, count: str) -> float | None:
    def mean(name: str) -> float | None:
        values = list(evidence.seeds(place, variant, name).values())
        return float(np.mean(values)) if values and not pd.isna(values).any() else None

    size, items = mean(count), mean("items")
    return None if size is None or not items else size / items


def more_for_its_bytes(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """Most "+" cells lie above the base that holds as many bytes in all."""
    found = {}
    for place in evidence.places(claim["cells"]):
        where = (place.scenario, place.dataset, place.method, place.buffer)
        base = equal_base(evidence.results, evidence.layout, *where)
        if base is not None and base.gain:
            found[place] = base.gain
    if not found:
        return not_tested(f"no base holds the bytes of a “+” within {100 * SLACK:g} %"), None
    return majority(evidence, found, "lie above the base with as many bytes"), None
