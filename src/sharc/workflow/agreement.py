"""Whether DVC knows what Snakemake built: a build may be killed after its last job.

DVC is asked only when something moved since the two were last seen to agree: asking takes a second.
"""

from pathlib import Path

from sharc.artifacts.digests import digest
from sharc.artifacts.files import digest_of, write_text
from sharc.workflow.dvc import LOCK, has_dvc, run_dvc
from sharc.workflow.units import Graph

_SEEN = Path(".sharc/agreed")
_COMPARED = (Path("params.yaml"), Path("dvc.yaml"), LOCK)


def agrees(graph: Graph) -> bool:
    """Whether DVC's lock describes the finished build; true where there is no DVC to tell."""
    if not has_dvc():
        return True
    if _SEEN.is_file() and _SEEN.read_text() == _fingerprint(graph):
        return True
    if run_dvc("status", "--quiet").returncode:
        return False
    remember(graph)
    return True


def remember(graph: Graph) -> None:
    """Note that DVC has been told of the build as it stands."""
    write_text(_SEEN, _fingerprint(graph))


def _fingerprint(graph: Graph) -> str:
    told = [path for unit in graph.units.values() for path in (unit.receipt, unit.provenance)]
    return digest_of({str(path): digest(path) for path in (*told, *_COMPARED) if path.is_file()})
