"""SIGKILL at random moments of every stage: nothing partial passes for whole, nothing is lost."""

import random
import shutil
import time
from pathlib import Path

import pytest
from processes import Build
from project import Project, built, clone

from sharc.artifacts.files import PARTIAL
from sharc.entry.dvc import outs

pytestmark = pytest.mark.slow
KILLS = {  # how often each stage is struck; 20 in all
    "download": 2,
    "split": 2,
    "features": 2,
    "train": 3,
    "figure1": 2,
    "collect": 2,
    "tables": 2,
    "figures": 2,
    "claims": 1,
    "report": 2,
}
IMPORTS = 2.0  # seconds until a job's own work begins


def test_twenty_kills_over_all_stages_leave_no_trace_in_the_results(
    finished: Project, tmp_path: Path
):
    project, expected = clone(tmp_path / "sharc"), finished.results()
    chance, builds = random.Random(8), []
    for stage, count in KILLS.items():
        for number in range(count):
            build = strike(project, stage, chance, jobs=number % 2 == 0)
            builds.append(build)
            if number % 2 == 0:
                assert_whole_or_absent(project, expected)
    assert len(builds) == sum(KILLS.values()) == 20
    output = project.snakemake()
    for build in builds:
        build.end()  # an orphan that outlived even the last build
    assert "its lock was removed" in output
    assert project.results() == expected
    assert not list(project.folder.rglob(f"{PARTIAL}*"))
    assert "Nothing to be done" in project.snakemake()


def test_a_build_killed_during_dvc_commit_leaves_both_tools_consistent(separate: Project):
    for moment in (0.0, 0.8, 1.6):  # seconds; DVC needs about two
        forget(separate, "report")
        build = Build(separate)
        while build.alive and not build.records_in_dvc():
            time.sleep(0.02)
        assert build.alive
        time.sleep(moment)
        build.kill(jobs=moment > 0)  # the first time, DVC itself goes on as an orphan
        assert built(separate.snakemake()) == set()
        assert "up to date" in separate.run("dvc", "status")


@pytest.mark.parametrize("kept", [0.0, 0.4])
def test_a_half_written_dvc_lock_is_rewritten(project: Project, kept: float):
    lock = project.folder / "dvc.lock"
    whole = lock.read_text()
    lock.write_text(whole[: int(kept * len(whole))] + "\n  cut")
    assert "dvc.lock" in project.run("dvc", "status", code=None)
    output = project.snakemake()
    assert "dvc.lock was damaged" in output
    assert built(output) == set()
    assert lock.read_text() == whole
    assert "Nothing to be done" in project.snakemake()


def test_dvcs_list_of_files_in_use_is_rewritten_if_a_kill_left_it_empty(project: Project):
    (project.folder / "dvc.lock").unlink()
    in_use = project.folder / ".dvc/tmp/rwlock"
    in_use.write_text("")
    assert "JSON structure is corrupted" in project.run("dvc", "status", code=None)
    output = project.snakemake()
    assert ".dvc/tmp/rwlock was damaged" in output
    assert built(output) == set()
    assert in_use.read_text()
    assert "up to date" in project.run("dvc", "status")


def test_a_build_not_recorded_in_dvc_is_recorded_by_the_next(project: Project):
    (project.folder / "dvc.lock").unlink()
    assert "report:all: kept" in project.snakemake()
    assert "up to date" in project.run("dvc", "status")
    assert "Nothing to be done" in project.snakemake()


def strike(project: Project, stage: str, chance: random.Random, *, jobs: bool) -> Build:
    """Kill a build at a random moment while a job of `stage` runs."""
    for _ in range(5):
        forget(project, stage)
        build = Build(project)
        while build.alive and stage not in build.stages():
            time.sleep(0.02)
        time.sleep(chance.uniform(0, IMPORTS + 1))
        struck = build.stages()
        build.kill(jobs=jobs)
        if stage in struck:
            return build
        build.end()  # the job was faster: try again
    raise AssertionError(f"no job of {stage} was struck")


def forget(project: Project, stage: str) -> None:
    """Delete what a stage has built, so that it has to be built again."""
    for path in (project.folder / name for name in outs(stage)):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)  # an orphan may be writing into it
        else:
            path.unlink(missing_ok=True)


def assert_whole_or_absent(project: Project, expected: dict[str, bytes]) -> None:
    """Whatever carries an artifact's name is that artifact, to the last byte."""
    for name, content in expected.items():
        path = project.folder / name
        assert not path.is_file() or path.read_bytes() == content, name
