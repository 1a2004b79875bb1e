"""`sharc export`: a finished suite's small results, for Git and for readers who build nothing."""

import gzip
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sharc.artifacts.files import PARTIAL, write_json
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
    paths = sorted(
        path
        for family in families
        for pattern in _COPIED[family]
        for unit in graph.family(family)  # another suite's folders may lie beside it
        for path in Path().glob(pattern.format(folder=unit.folder))
    )
    facts = suite_facts(params) | provenance(graph, params)
    with replaced(folder) as out:
        made = {
            "command": command,
            "left_out": [str(path) for path in paths if not copied(path, out)],
            "cost": costs(graph),
            "duration": duration(graph),
        }
        write_json(out / "made.json", made | facts)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Yield a folder that takes the place of an earlier export only once it is whole."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a new folder, such as results/mine.")
    if folder.exists() and any(folder.iterdir()) and not (folder / "made.json").is_file():
        raise UserError(
            f"{folder} exists and is not an earlier export (it has no made.json). Name a new or"
            " empty folder, such as results/mine."
        )
    partial = folder.with_name(f"{PARTIAL}{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)  # of an export that was killed
    partial.mkdir(parents=True)
    try:
        yield partial
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


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
