"""Tell DVC what Snakemake built, so that the two never disagree."""

import subprocess
from pathlib import Path

from sharc.errors import UserError
from sharc.workflow import dvc_yaml
from sharc.workflow.families import FAMILIES
from sharc.workflow.freshness import states
from sharc.workflow.settle import settle
from sharc.workflow.units import Graph


def record(graph: Graph) -> None:
    """Commit to DVC every family that is complete and current, and no other."""
    if not (Path(".dvc").is_dir() and Path(".git").exists()):
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
        _dvc("commit", "--force", "--quiet", *complete)


def _dvc(*words: str) -> None:
    done = subprocess.run(["dvc", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"`dvc {' '.join(words)}` failed:\n{done.stderr or done.stdout}")
