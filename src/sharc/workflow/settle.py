"""After a family is built: everything in its folder belongs there, and is what it says it is."""

from pathlib import Path

from sharc.artifacts.notes import note_beside
from sharc.errors import UserError
from sharc.workflow import dvc_yaml
from sharc.workflow.freshness import State, states
from sharc.workflow.shelf import shelve
from sharc.workflow.units import Graph


def settle(graph: Graph, family: str, known: dict[str, State] | None = None) -> None:
    """Refuse an incomplete family; shelve what no unit of the present grid owns."""
    found = known or states(graph)
    for unit in graph.family(family):
        if not found[unit.id].current:
            raise UserError(
                f"{unit.id} is not current: {found[unit.id].reason}. "
                "Run `snakemake --cores 2 all` and look into "
                f"outputs/logs/{family}/{unit.stamp.stem}.log."
            )
    owned = _owned(graph, family)
    for out in map(Path, dvc_yaml.outs(family)):
        if not out.suffix:
            _tidy(out, owned)


def _tidy(folder: Path, owned: set[Path]) -> None:
    folder.mkdir(parents=True, exist_ok=True)  # DVC insists on every output it was promised
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_dir():
            if path not in owned:
                shelve(path)
        elif not any(path.iterdir()):
            path.rmdir()


def _owned(graph: Graph, family: str) -> set[Path]:
    owned: set[Path] = set()
    for unit in graph.family(family):
        receipt = unit.load_receipt()
        owned |= {unit.receipt, unit.provenance}
        for path in map(Path, receipt.outputs if receipt else ()):
            owned |= {path, note_beside(path)}
    return owned
