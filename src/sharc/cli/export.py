"""`sharc export`: a finished suite's small results, for Git and for readers who build nothing."""

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path

from sharc.artifacts.files import write_json
from sharc.config import load_params
from sharc.errors import UserError, unknown
from sharc.workflow.families import build_graph
from sharc.workflow.freshness import states
from sharc.workflow.told import costs, duration, provenance, suite_facts
from sharc.workflow.units import Graph

_COPIED = {
    "collect": ["outputs/results/*.csv"],
    "tables": [f"outputs/tables/{name}" for name in ("*.md", "comparison.csv", "ledger.csv")],
    "figures": ["outputs/figures/*.png", "outputs/figures/index.json"],
    "figure1": ["{folder}/figure1.json"],
    "claims": ["outputs/claims.json", "outputs/claims.md"],
    "ladder": [f"outputs/ladder/ladder.{ending}" for ending in ("csv", "md", "png")],
}
_LARGEST = 300_000  # bytes; a table beyond that is packed, and left out if that does not help


def export_results(folder: Path, suite: str | None, only: Sequence[str] = ()) -> None:
    """Copy tables, figures, claims and the summary, with what they were made from and its cost."""
    params = load_params(suite=suite)
    graph = build_graph(params)
    families = _families(graph, only)
    targets = " ".join(f"all_{family}" for family in families) if only else "all"
    command = f"snakemake --cores 2 {targets} --config suite={params.suite}"
    if only:
        graph = _needed_for(graph, families)
    for name, state in states(graph).items():
        if not state.current:
            raise UserError(
                f"only a finished suite can be exported, and {name} is not current: {state.reason}."
                f" Run `{command}` first."
            )
    _emptied(folder)
    paths = sorted(
        path
        for family in families
        for pattern in _COPIED[family]
        for unit in graph.family(family)  # another suite's folders may lie beside it
        for path in Path().glob(pattern.format(folder=unit.folder))
    )
    made = {
        "command": command,
        "left_out": [str(path) for path in paths if not copied(path, folder)],
        "cost": costs(graph),
        "duration": duration(graph),
    }
    write_json(folder / "made.json", made | suite_facts(params) | provenance(graph, params))


def _emptied(folder: Path) -> None:
    """Make `folder` anew; what is no earlier export is not deleted."""
    if folder.exists():
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / "made.json").is_file()):
            raise UserError(
                f"{folder} exists and is not an earlier export (it has no made.json). Name a new or"
                " empty folder, such as results/mine."
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True)


def copied(path: Path, folder: Path) -> bool:
    """Copy a file that is small, or small when packed; say whether it was."""
    content, name = path.read_bytes(), path.name
    if len(content) > _LARGEST and path.suffix == ".csv":
        content, name = gzip.compress(content, mtime=0), f"{name}.gz"
    if len(content) > _LARGEST:
        return False
    (folder / name).write_bytes(content)
    return True


def _families(graph: Graph, only: Sequence[str]) -> list[str]:
    """The families asked for, or all that the suite has: another's ladder may still lie there."""
    here = [family for family in _COPIED if graph.family(family)]
    for family in only:
        if family not in here:
            raise UserError(unknown("family to export", family, here))
    return [family for family in here if not only or family in only]


def _needed_for(graph: Graph, families: Sequence[str]) -> Graph:
    """The families' units and all that they are made from."""
    wanted = {unit.id for family in families for unit in graph.family(family)}
    for unit in reversed(graph.units.values()):  # each comes after what it needs
        if unit.id in wanted:
            wanted |= set(unit.needs)
    return Graph(unit for unit in graph.units.values() if unit.id in wanted)
