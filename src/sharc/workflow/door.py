"""What the Snakefile needs to know, so that the Snakefile itself stays a table of contents."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from sharc.config import Params, load_params
from sharc.errors import UserError
from sharc.workflow.agreement import agrees
from sharc.workflow.families import FAMILIES, build_graph
from sharc.workflow.freshness import show_snakemake
from sharc.workflow.lock import BuildLock
from sharc.workflow.units import STAMPS

_LIKE = {"streamed": "train", "rungs": "train"}  # families that ask for what another asks for


class Door:
    """The chosen suite's graph as rules see it."""

    def __init__(self, params: Params, overridden: bool) -> None:
        self.params = params
        self.suite = params.suite
        self.graph = build_graph(params)
        self.families = list(FAMILIES)
        self._overridden = overridden
        self.lock: BuildLock | None = None
        self._by_stamp = {str(unit.stamp): unit for unit in self.graph.units.values()}

    def stamps(self, family: str) -> list[str]:
        """The stamps of a family's units."""
        return [str(unit.stamp) for unit in self.graph.family(family)]

    def stamp_pattern(self, family: str) -> str:
        """The stamps of a family as a pattern with the wildcard `unit`."""
        return str(STAMPS / family / "{unit}.stamp")

    def needs(self, family: str) -> Callable[[Any], list[str]]:
        """Input function: the stamps of the units that a unit reads."""
        return lambda wildcards: [
            str(need.stamp) for need in self.graph.needs(self._unit(family, wildcards.unit))
        ]

    def sources(self, family: str) -> Callable[[Any], list[str]]:
        """Input function: the code, and files in Git, that decide what a unit computes."""
        return lambda wildcards: list(self._unit(family, wildcards.unit).sources)

    def resource(self, family: str, name: str) -> int:
        """What a family's rule asks the scheduler for."""
        asked = _LIKE.get(family, family)
        wanted = getattr(self.params.resources, asked, self.params.resources.other)
        return int(getattr(wanted, name))

    def _unit(self, family: str, wildcard: str) -> Any:
        return self._by_stamp[str(STAMPS / family / f"{wildcard}.stamp")]

    @property
    def tells_dvc(self) -> bool:
        """Whether DVC is to hear of this build: not of its own, nor of another suite than its."""
        return "DVC_STAGE" not in os.environ and not self._overridden

    def record(self) -> None:
        """Tell DVC what was built, unless DVC itself started this build."""
        if "DVC_STAGE" in os.environ:
            return
        if self._overridden:
            print(
                f"Suite {self.suite!r} was chosen on the command line; DVC follows params.yaml and "
                f"was not told. Set `suite: {self.suite}` there to version these artifacts."
            )
            return
        from sharc.workflow.record import record

        try:
            record(self.graph)
        except UserError as error:
            _stop(error)

    def explain_failure(self) -> None:
        """Say where to look after a failed build."""
        print("Not everything was built. Each failed unit's log is in outputs/logs/.")


def open_door(suite: str | None, main_process: bool) -> Door:
    """Check the parameters, take stock, and hand the graph to the Snakefile."""
    try:
        chosen = load_params()
        params = load_params(suite=suite) if suite else chosen
        door = Door(params, overridden=params.suite != chosen.suite)
        if main_process:
            _take_stock(door)
    except UserError as error:
        _stop(error)
    return door


def _stop(error: UserError) -> NoReturn:
    """End the build with one message, where Snakemake would print a traceback."""
    print(error, file=sys.stderr)
    sys.stderr.flush()
    os._exit(2)


def _take_stock(door: Door) -> None:
    for folder in (Path("outputs"), Path("data"), STAMPS):
        _require_writable(folder)
    door.lock = BuildLock()  # held until this process ends
    door.lock.forget_dead_builds()
    found = show_snakemake(door.graph).values()
    for state in found:
        if state.damaged:
            print(f"{state.reason} since it was built: it is built again.", file=sys.stderr)
    if all(state.current for state in found) and door.tells_dvc and not agrees(door.graph):
        for unit in door.graph.family("report"):
            unit.stamp.unlink()  # its job finds all done, and after it DVC is told


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise UserError(
            f"{folder}/ cannot be written to: the build keeps its files there. "
            f"Make it writable (`chmod u+w {folder}`) or work in another copy of the project."
        )
