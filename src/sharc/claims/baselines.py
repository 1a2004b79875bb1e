"""Checks against the naive baselines: is JOINT a bound, does replay beat SGD."""

from typing import Any

from sharc.artifacts.runs import DENSE
from sharc.claims.evidence import Entry, Evidence, Gains
from sharc.claims.finding import DOES_NOT_SUPPORT, SUPPORTS, Finding, figures, interval, not_tested
from sharc.claims.gains import NO_CELLS, Answer, majority
from sharc.results import labels
from sharc.results.statistics import difference, estimate, pooled
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED


def above_method(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """Most plain methods lie above a reference that needs no buffer."""
    found: dict[Entry, Gains] = {}
    printed = []
    for entry in evidence.entries(claim["cells"]):
        naive = Entry(entry.scenario, entry.dataset, claim["reference"], 0)
        gap = difference(evidence.seeds(entry, DENSE), evidence.seeds(naive, DENSE))
        if gap:
            found[entry] = gap
    for entry in evidence.entries(claim["cells"], printed=True):
        one = evidence.paper.cell(
            entry.scenario, entry.dataset, entry.method, entry.buffer, plus=False
        )
        other = evidence.paper.cell(
            entry.scenario, entry.dataset, claim["reference"], 0, plus=False
        )
        if one is not None and other is not None:
            printed.append(one.acc_mean > other.acc_mean)
    said = f"lie above {labels.method(claim['reference'])}"
    text = f"{sum(printed)} of {len(printed)} printed means {said}."
    paper = Finding(
        SUPPORTS if sum(printed) > len(printed) / 2 else DOES_NOT_SUPPORT,
        text,
        {"cells": len(printed), "positive": sum(printed)},
    )
    return majority(evidence, found, said, DENSE), paper if printed else None


def upper_bound(evidence: Evidence, claim: dict[str, Any]) -> Answer:
    """No method, with or without SHARC, lies above the reference."""
    gaps, above = _gaps_to_bound(evidence, claim)
    printed = _printed_above(evidence, claim)
    total = sum(1 for _ in printed)
    over = [name for name, is_above in printed if is_above]
    paper = Finding(
        DOES_NOT_SUPPORT if over else SUPPORTS,
        f"{len(over)} of {total} printed means lie above the reference"
        + (f" (e.g. {over[0]})." if over else "."),
        {"cells": total, "above": len(over)},
    )
    if not gaps:
        return not_tested(NO_CELLS), paper
    sums = pooled(list(gaps.values()))
    verdict = NOT_REPRODUCED if above else REPRODUCED
    if not above and sums.worsened < sums.cells:
        verdict = UNDECIDED
    text = (
        f"{len(above)} of {sums.cells} cells lie decidedly above "
        f"{labels.method(claim['reference'])}, {sums.worsened} decidedly below. Mean distance: "
        f"{interval(sums.gain)}."
    )
    counts = {"cells": sums.cells, "above": len(above), "below": sums.worsened}
    return Finding(verdict, text, counts | figures(sums.gain, "distance"), above[:20]), paper


def _gaps_to_bound(
    evidence: Evidence, claim: dict[str, Any]
) -> tuple[dict[tuple[Entry, str], Gains], list[str]]:
    gaps, above = {}, []
    for entry in evidence.entries(claim["cells"]):
        bound = evidence.seeds(Entry(entry.scenario, entry.dataset, claim["reference"], 0), DENSE)
        for plus in (False, True):
            variant = evidence.layout.variant(entry.scenario, plus=plus)
            gap = difference(evidence.seeds(entry, variant), bound)
            if gap:
                gaps[entry, variant] = gap
                if estimate(list(gap.values())).direction == "up":
                    above.append(evidence.name(entry, variant))
    return gaps, above


def _printed_above(evidence: Evidence, claim: dict[str, Any]) -> list[tuple[str, bool]]:
    found = []
    for entry in evidence.entries(claim["cells"], printed=True):
        bound = evidence.paper.cell(
            entry.scenario, entry.dataset, claim["reference"], 0, plus=False
        )
        for plus in (False, True):
            one = evidence.paper.cell(
                entry.scenario, entry.dataset, entry.method, entry.buffer, plus=plus
            )
            if one is not None and bound is not None:
                sign = labels.PLUS if plus else ""
                name = f"{labels.method(entry.method)}{sign} at {entry.buffer}"
                name += f" on {labels.dataset(entry.dataset)}"
                found.append((name, one.acc_mean > bound.acc_mean))
    return found
