"""Training through a real Slurm gives the bytes that training on this machine gives."""

import shutil
from pathlib import Path

import pytest
from project import Project, built
from slurm_node import install, slurm_node

pytestmark = pytest.mark.slow
HASTE = (  # a cluster of one idle node need not be treated gently
    *("--slurm-init-seconds-before-status-checks", "2"),
    *("--seconds-between-status-checks", "2"),
    *("--slurm-status-command", "squeue", "--latency-wait", "10"),
)


def test_runs_trained_by_slurm_are_the_same_bytes(
    finished: Project, separate: Project, tmp_path: Path
):
    install()
    for name in ("runs", "logs"):
        shutil.rmtree(separate.folder / "outputs" / name)
    with slurm_node(tmp_path / "slurm"):
        output = separate.run(
            "snakemake", "--profile", "profiles/slurm", "all", *HASTE, "--until", "train"
        )
    jobs = built(log_of(separate))
    assert len(jobs) == 5, output
    assert output.count("has been submitted with SLURM jobid") == len(jobs)
    assert separate.results() == finished.results()
    assert "Nothing to be done" in separate.snakemake()


def log_of(project: Project) -> str:
    """What the jobs said; they ran elsewhere, so their logs are asked."""
    logs = (project.folder / "outputs/logs/train").rglob("*.log")
    return "".join(path.read_text() for path in logs)
