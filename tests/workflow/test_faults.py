"""Full disks, forbidden folders, two builds at once: one clear message and no damage."""

import shutil
from pathlib import Path

import pytest
from mounts import read_only, small_disk
from processes import Build
from project import Project, built
from test_both_tools import wait_for

from sharc.artifacts.files import PARTIAL
from sharc.entry.dvc import outs

pytestmark = pytest.mark.slow
LITE0 = "digits/efficientnet_lite0"
TARGETS = {
    "download": "data/raw/digits/meta.json",
    "split": "data/splits/digits.json",
    "features": f"outputs/features/{LITE0}/meta.json",
    "train": f"outputs/runs/{LITE0}/er/modern_hopfield.receipt.json",
    "figure1": "outputs/figure1/digits/figure1.json",
    "collect": "outputs/results/summary.csv",
    "tables": "outputs/tables/comparison.md",
    "figures": "outputs/figures/index.json",
    "claims": "outputs/claims.json",
    "report": "outputs/report.html",
}


def job(project: Project, stage: str, code: int) -> str:
    """Run one job as a rule of the Snakefile does."""
    return project.run(
        *("python", "-m", "sharc.entry.job", TARGETS[stage], "--suite", "demo"),
        *("--log", f"outputs/logs/{stage}/it.log"),
        code=code,
    )


def size_of(paths: list[Path]) -> int:
    """Bytes below some paths."""
    files = [f for p in paths for f in (p.rglob("*") if p.is_dir() else [p]) if f.is_file()]
    return sum(file.stat().st_size for file in files)


def forget(project: Project, stage: str) -> int:
    """Delete what a stage built; the number of bytes that was."""
    paths = [project.folder / name for name in outs(stage)]
    if stage == "train":
        paths = list((project.folder / f"outputs/runs/{LITE0}/er").glob("modern_hopfield*"))
    size = size_of(paths)
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return size


def assert_no_partials(project: Project) -> None:
    assert not list(project.folder.rglob(f"{PARTIAL}*"))


@pytest.mark.parametrize("stage", TARGETS)
def test_a_disk_with_room_for_half_a_stage_is_said_to_be_full(
    finished: Project, project: Project, stage: str
):
    folder = project.folder / ("data" if stage in {"download", "split"} else "outputs")
    with small_disk(folder) as disk:
        needed = forget(project, stage)
        disk.leave(room=needed // 2)
        output = job(project, stage, code=2)
        assert "the disk is full" in output
        assert "Traceback" not in output
        assert_no_partials(project)
        disk.free()
        assert "built" in job(project, stage, code=0)
        assert project.results() == finished.results()


def test_snakemake_goes_on_once_there_is_room_again(finished: Project, project: Project):
    with small_disk(project.folder / "outputs") as disk:
        needed = forget(project, "features")
        disk.leave(room=needed // 2)
        output = project.snakemake(code=1)
        assert "the disk is full: outputs/features" in output
        assert "outputs/logs/" in output
        disk.free()
        assert built(project.snakemake()) == {f"features:{LITE0}"}
        assert project.results() == finished.results()


def test_a_read_only_outputs_folder_stops_the_build_before_it_starts(project: Project):
    before = project.results()
    with read_only(project.folder / "outputs"):
        output = project.snakemake(code=2)
    assert "outputs/ is not writable" in output
    assert "Traceback" not in output
    assert project.results() == before


def test_a_read_only_folder_deep_inside_is_named(finished: Project, project: Project):
    (project.folder / f"outputs/runs/{LITE0}/er/dense/b50/seed0.json").unlink()
    with read_only(project.folder / f"outputs/runs/{LITE0}/er"):
        output = project.snakemake(code=2)
    assert "er/dense.receipt.json cannot be written (Read-only file system)" in output
    assert "Traceback" not in output
    project.snakemake()
    assert project.results() == finished.results()


def test_a_second_build_of_the_same_folder_is_turned_away(finished: Project, separate: Project):
    forget(separate, "features")
    first = Build(separate)
    try:
        wait_for(lambda: bool(first.stages()))
        output = separate.snakemake(code=2)
        assert f"another build is running in this folder (process {first.process.pid})" in output
        assert "Traceback" not in output
        assert first.process.wait(timeout=300) == 0
    finally:
        first.end()
    assert separate.results() == finished.results()
