"""Tell DVC what Snakemake built, so that the two never disagree."""

from sharc.errors import UserError
from sharc.workflow import dvc_yaml
from sharc.workflow.agreement import remember
from sharc.workflow.dvc import LOCK, has_dvc, run_dvc
from sharc.workflow.families import FAMILIES
from sharc.workflow.freshness import states
from sharc.workflow.settle import settle
from sharc.workflow.shelf import shelve
from sharc.workflow.units import Graph


def record(graph: Graph) -> None:
    """Commit to DVC every family that is complete and current, and no other."""
    if not has_dvc():
        print("This folder is no Git repository with DVC in it: nothing was recorded.")
        return
    if not dvc_yaml.in_step():
        raise UserError(
            "dvc.yaml is out of step with the code's imports, so DVC would miss a change. "
            "Write it anew with `sharc dvc-yaml`, then `sharc record`."
        )
    found = states(graph)
    complete = [f for f in FAMILIES if all(found[unit.id].current for unit in graph.family(f))]
    for family in complete:
        settle(graph, family, found)
    if complete:
        _commit(complete)
    if complete == list(FAMILIES):
        remember(graph)


def _commit(families: list[str]) -> None:
    # All at once where possible: by name, DVC reads and writes its whole lock for each of them.
    targets = [str(dvc_yaml.PLACE)] if families == list(FAMILIES) else families
    # Another DVC may be at work, a push or what a killed build left behind: wait for its end.
    words = ("--wait-for-lock", "commit", "--force", *targets)
    print("Telling DVC what was built.", flush=True)
    done = run_dvc(*words)
    if done.returncode and f"{LOCK}'" in done.stderr:
        print(f"{LOCK} was not whole, as after a kill or an unsolved merge: it is written anew.")
        shelve(LOCK)
        done = run_dvc(*words)
    if done.returncode:
        raise UserError(f"`dvc {' '.join(words)}` failed:\n{done.stderr}")
