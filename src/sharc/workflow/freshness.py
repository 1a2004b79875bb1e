"""Which units are current, decided by content; and how Snakemake, which sees times, is told."""

import os
from dataclasses import dataclass
from pathlib import Path

from sharc.artifacts.files import write_text
from sharc.workflow.shelf import unshelve
from sharc.workflow.units import Graph, Unit

NOT_BUILT = "not built yet"


@dataclass(frozen=True)
class State:
    """Whether a unit is current, and if not, why."""

    current: bool
    reason: str = ""
    damaged: bool = False  # complete once, and altered or lost since


def states(graph: Graph) -> dict[str, State]:
    """The state of every unit, in the graph's order."""
    found: dict[str, State] = {}
    for unit in graph.units.values():
        found[unit.id] = _state(graph, unit, found)
    return found


def _state(graph: Graph, unit: Unit, known: dict[str, State]) -> State:
    stale = [need for need in unit.needs if not known[need].current]
    if stale:
        more = f" and {len(stale) - 1} more" if len(stale) > 1 else ""
        return State(False, f"{stale[0]}{more} will be built anew")
    receipt = unit.load_receipt()
    if receipt is None:
        return State(False, NOT_BUILT)
    inputs = graph.inputs(unit)
    if inputs is None or receipt.key != graph.key(unit, inputs):
        return State(False, "its code, parameters or inputs changed")
    if receipt.failed:
        return State(False, f"{len(receipt.failed)} of its runs failed last time")
    damage = receipt.damage()
    return State(damage is None, damage or "", damaged=damage is not None)


def show_snakemake(graph: Graph) -> dict[str, State]:
    """Give each current unit a stamp newer than all it reads; take a stale unit's stamp away."""
    found: dict[str, State] = {}
    for unit in graph.units.values():
        found[unit.id] = _state(graph, unit, found)
        if found[unit.id].reason == NOT_BUILT:
            unshelve(graph, unit)
            found[unit.id] = _state(graph, unit, found)
        if found[unit.id].current:
            _renew(unit, graph)
        else:
            unit.stamp.unlink(missing_ok=True)
    return found


def _renew(unit: Unit, graph: Graph) -> None:
    read = [Path(name) for name in unit.sources] + [need.stamp for need in graph.needs(unit)]
    newest = max((path.stat().st_mtime_ns for path in read), default=0)
    if not unit.stamp.is_file():
        write_text(unit.stamp, "")
    if unit.stamp.stat().st_mtime_ns <= newest:
        after = newest + 1_000_000  # one millisecond: finer steps are lost in floating point
        os.utime(unit.stamp, ns=(after, after))
