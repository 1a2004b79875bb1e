"""Checks on what is held: per stored sample, and accuracy for equal bytes."""

from dataclasses import replace
from typing import Any

import numpy as np

from sharc.artifacts.runs import DENSE
from sharc.claims.evidence import Entry, Evidence
from sharc.claims.finding import Finding, not_tested
from sharc.claims.gains import NO_CELLS, Answer, majority
from sharc.errors import UserError, unknown
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
    ratios, in_all, cells = [], [], []
    for entry in evidence.entries(claim["cells"]):
        variants = (evidence.layout.variant(entry.scenario, plus=True), DENSE)
        plus, base = (_sizes(evidence, entry, variant, claim["count"]) for variant in variants)
        if plus and base:
            in_all.append(plus[0] / base[0])
            ratios.append(in_all[-1] / (plus[1] / base[1]))
            cells.append(evidence.name(entry))
    if not ratios:
        return not_tested(NO_CELLS), None
    fewer = sum(ratio < 1 for ratio in ratios)
    verdict = {len(ratios): REPRODUCED, 0: NOT_REPRODUCED}.get(fewer, UNDECIDED)
    text = (
        f"Ratio with SHARC to without, {_COUNTS[claim['count']]}: {min(ratios):.2f} to "
        f"{max(ratios):.2f}, median {float(np.median(ratios)):.2f}; below 1 in {fewer} of "
        f"{len(ratios)} cells. In total, at the same budget: {min(in_all):.2f} to "
        f"{max(in_all):.2f}."
    )
    numbers = {"cells": len(ratios), "less": fewer, "median_ratio": float(np.median(ratios))}
    numbers["median_ratio_in_all"] = float(np.median(in_all))
    return Finding(verdict, text, numbers, cells), None


def _sizes(evidence: Evidence, entry: Entry, variant: str, count: str) -> list[float]:
    """What is held in all and by how many samples, means over seeds; empty if not known."""
    found = [list(evidence.seeds(entry, variant, name).values()) for name in (count, "items")]
    means = [float(np.mean(values)) if values else 0.0 for values in found]
    return means if all(means) and np.isfinite(means).all() else []


def more_for_its_bytes(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """Most "+" cells lie above the base that holds as many bytes in all."""
    found, entries = {}, list(evidence.entries(claim["cells"]))
    for entry in entries:
        where = (entry.scenario, entry.dataset, entry.method, entry.buffer)
        base = equal_base(evidence.results, evidence.layout, *where)
        if base is not None and base.gain:
            found[entry] = base.gain
    if not found:
        reason = f"no base holds as many bytes as a “+” form, to within {100 * SLACK:g} %"
        return not_tested(reason), None
    ours = majority(evidence, found, "lie above the base with as many bytes")
    pairs = f" {len(found)} of {len(entries)} cells have a base that holds as much."
    return replace(ours, text=ours.text + pairs), None
