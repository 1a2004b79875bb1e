"""Work that the present grid does not ask for is put aside, not deleted, and comes back for free.

Without this, going from one suite to another and back would throw hours of features away,
because DVC wants a family's folder to hold exactly what the parameters say.
"""

from pathlib import Path

from sharc.artifacts.files import PARTIAL
from sharc.artifacts.notes import note_beside
from sharc.artifacts.receipts import read_receipt
from sharc.workflow.units import Graph, Unit

SHELF = Path(".sharc/shelf")


def shelve(path: Path) -> None:
    """Put a file of another suite or an older grid aside."""
    if path.name.startswith(PARTIAL):
        path.unlink()
    else:
        _move(path, SHELF / path)


def unshelve(graph: Graph, unit: Unit) -> None:
    """Bring a unit back that was put aside and is what the present grid asks for."""
    shelved = read_receipt(SHELF / unit.receipt)
    inputs = graph.inputs(unit)
    if shelved is None or inputs is None or shelved.key != graph.key(unit, inputs):
        return
    for path in [*map(Path, shelved.outputs), unit.provenance, unit.receipt]:
        unshelve_file(path)
        unshelve_file(note_beside(path))


def unshelve_file(path: Path) -> None:
    """Bring one file back if it was put aside and its place is free."""
    if (SHELF / path).is_file() and not path.exists():
        _move(SHELF / path, path)


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)
