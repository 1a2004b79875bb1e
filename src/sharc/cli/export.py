"""`sharc export`: a finished suite's small results, for Git and for readers who build nothing."""

import shutil
from pathlib import Path

from sharc.artifacts.files import write_json
from sharc.config import load_params
from sharc.errors import UserError, unknown
from sharc.workflow.families import build_graph
from sharc.workflow.freshness import states
from sharc.workflow.told import provenance, suite_facts
from sharc.workflow.units import Graph

_COPIED = {
    "collect": ["outputs/results/summary.csv"],
    "tables": ["outputs/tables/*.md", "outputs/tables/comparison.csv"],
    "figures": ["outputs/figures/*.png"],
    "claims": ["outputs/claims.json", "outputs/claims.md"],
    "ladder": [f"outputs/ladder/ladder.{ending}" for ending in ("csv", "md", "png")],
}
_LARGEST = 300_000  # bytes; Git is no place for more


def export_results(folder: Path, suite: str | None, only: str | None = None) -> None:
    """Copy tables, figures, claims and the summary, with what they were made from."""
    params = load_params(suite=suite)
    graph = build_graph(params)
    if only is not None:
        graph = _needed_for(graph, only)
    for name, state in states(graph).items():
        if not state.current:
            raise UserError(
                f"only a finished suite can be exported, and {name} is not current: {state.reason}."
                " Run `snakemake --cores 2 all` first."
            )
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    # Only what the suite has: another one's ladder may still lie there.
    patterns = [p for family in _COPIED if graph.family(family) for p in _COPIED[family]]
    for path in sorted(path for pattern in patterns for path in Path().glob(pattern)):
        if path.stat().st_size <= _LARGEST:
            shutil.copyfile(path, folder / path.name)
    made = {
        "command": f"snakemake --cores 2 all{f'_{only}' if only else ''} --config"
        f" suite={params.suite}"
    }
    write_json(folder / "made.json", made | suite_facts(params) | provenance(graph, params))


def _needed_for(graph: Graph, family: str) -> Graph:
    """A family's units and all that they are made from."""
    if family not in _COPIED or not graph.family(family):
        legal = [name for name in _COPIED if graph.family(name)]
        raise UserError(unknown("family to export", family, legal))
    wanted = {unit.id for unit in graph.family(family)}
    for unit in reversed(graph.units.values()):  # each comes after what it needs
        if unit.id in wanted:
            wanted |= set(unit.needs)
    return Graph(unit for unit in graph.units.values() if unit.id in wanted)
