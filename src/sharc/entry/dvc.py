"""DVC: record what Snakemake built, and run a stage for `dvc repro`.

python -m sharc.entry.dvc train    what the stage `train` in dvc.yaml runs
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from sharc.artifacts.digests import digest
from sharc.artifacts.files import digest_of, write_text
from sharc.artifacts.runs import key_file
from sharc.errors import UserError
from sharc.pipeline import load_graph
from sharc.workflow.freshness import State, states
from sharc.workflow.graph import Graph
from sharc.workflow.stash import put_aside

LOCK = Path("dvc.lock")
_IN_USE = Path(".dvc/tmp/rwlock")  # which running DVC uses which files
_STAGES = Path("dvc.yaml")
_RECORDED = Path(".sharc/recorded")
_EMPTY = ".gitkeep"  # DVC wants every folder it was promised, and none of them empty


def has_dvc() -> bool:
    """Whether this folder is a DVC project in a Git repository."""
    return Path(".dvc").is_dir() and Path(".git").exists()


def is_recorded(graph: Graph) -> bool:
    """Whether dvc.lock describes the finished build; true where there is no DVC to ask.

    DVC is asked only if something changed since the two were last seen to agree: it takes a second.
    """
    if not has_dvc() or "DVC_STAGE" in os.environ:
        return True
    if _RECORDED.is_file() and _RECORDED.read_text() == _fingerprint(graph):
        return True
    if _run("status", "--quiet").returncode:
        return False
    write_text(_RECORDED, _fingerprint(graph))
    return True


def _fingerprint(graph: Graph) -> str:
    made = [path for job in graph.jobs.values() for path in (job.receipt, job.provenance)]
    folders = (Path("src/sharc"), Path("own"))
    code = [path for top in folders for path in top.rglob("*") if path.suffix != ".pyc"]
    read = [Path("params.yaml"), _STAGES, LOCK, *code]
    return digest_of({str(path): digest(path) for path in (*made, *read) if path.is_file()})


def record(graph: Graph, other_suite: str | None = None) -> None:
    """Commit to DVC every stage that is complete and current, and no other."""
    if "DVC_STAGE" in os.environ:
        return  # DVC itself started this build
    if other_suite:
        print(
            f"Suite {other_suite!r} was chosen on the command line; DVC follows params.yaml, so "
            f"nothing was recorded. Set `suite: {other_suite}` there to version these artifacts."
        )
        return
    if not has_dvc():
        print("This folder is not a Git repository with DVC: nothing was recorded.")
        return
    found = states(graph)
    names = [stage.stage for stage in graph.stages]
    complete = [n for n in names if all(found[job.id].current for job in graph.in_stage(n))]
    for stage in complete:
        tidy(graph, stage)
    if complete:
        _commit(complete if complete != names else [str(_STAGES)])  # all at once is quicker
    if complete == names:
        write_text(_RECORDED, _fingerprint(graph))


def _commit(targets: list[str]) -> None:
    # Another DVC may be at work, a push or what a killed build left behind: wait for its end.
    words = ("--wait-for-lock", "commit", "--force", *targets)
    print("Recording the build in DVC.", flush=True)
    done = _run(*words)
    for path in (_IN_USE, LOCK):  # DVC writes both in place
        if done.returncode and f"{path}'" in done.stderr:
            print(f"{path} was damaged (a killed build or an unresolved merge): writing it again.")
            put_aside(path)
            done = _run(*words)
    if done.returncode:
        raise UserError(f"`dvc {' '.join(words)}` failed:\n{done.stderr}")


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["dvc", *words], capture_output=True, text=True, check=False)


@cache
def outs(stage: str) -> tuple[str, ...]:
    """What DVC versions of a stage: its artifacts with their receipts, and its provenance."""
    stages = yaml.safe_load(_STAGES.read_text(encoding="utf-8"))["stages"]
    return tuple(name for out in stages[stage]["outs"] for name in out)


def tidy(graph: Graph, stage: str) -> None:
    """Stash files that no job of the current grid makes: DVC versions whole folders."""
    owned: set[Path] = set()
    for job in graph.in_stage(stage):
        receipt = job.load_receipt()
        owned |= {job.receipt, job.provenance}
        for path in map(Path, receipt.outputs if receipt else ()):
            owned |= {path, key_file(path)}
    for out in map(Path, outs(stage)):
        if not out.suffix:
            _tidy(out, owned)


def _tidy(folder: Path, owned: set[Path]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_dir():
            if path not in owned and path != folder / _EMPTY:
                put_aside(path)
        elif not any(path.iterdir()):
            path.rmdir()
    others = any(path.name != _EMPTY for path in folder.iterdir())
    (folder / _EMPTY).unlink(missing_ok=True) if others else (folder / _EMPTY).touch()


def build(stage: str) -> None:
    """Bring a stage up to date for `dvc repro`, which runs the stages one after the other.

    The first that is not current has Snakemake build everything requested; the others then find
    their part done.
    """
    graph = load_graph()
    if (stale := _stale(graph, stage, states(graph))) and not _has_tried():
        subprocess.run(["snakemake", "--cores", "all", *_requested(stage)], check=False)
        graph = load_graph()
        stale = _stale(graph, stage, states(graph))
    if stale:
        raise UserError(stale)
    tidy(graph, stage)


def _stale(graph: Graph, stage: str, found: dict[str, State]) -> str:
    for job in graph.in_stage(stage):
        if not found[job.id].current:
            return (
                f"{job.id} is not current: {found[job.id].why}. "
                f"Run `snakemake --cores 2 all` and see {job.log}."
            )
    return ""


def _requested(stage: str) -> list[str]:
    """The stages named on the command line of `dvc repro`, or all of them."""
    stages = yaml.safe_load(_STAGES.read_text(encoding="utf-8"))["stages"]
    named = [word for word in _dvc_process().cmdline() if word in stages]
    return ["all", "--until", *dict.fromkeys([*named, stage])] if named else ["all"]


def _has_tried() -> bool:
    """Whether an earlier stage of this very `dvc repro` has had Snakemake try; note that it has."""
    dvc, note = _dvc_process(), Path(".sharc/tried")
    process = f"{dvc.pid} {dvc.create_time()}"
    tried = note.is_file() and note.read_text() == process
    write_text(note, process)
    return tried


def _dvc_process() -> Any:
    """The process of DVC that runs this command, through a shell."""
    import psutil

    parents = psutil.Process().parents()
    return next((p for p in parents if "dvc" in p.name() or "dvc" in p.cmdline()[:2]), parents[0])


if __name__ == "__main__":
    try:
        build(sys.argv[1])
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        sys.exit(1)
