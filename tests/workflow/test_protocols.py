"""The authors' protocol and the ladder to the paper's, built and guarded like everything else."""

import random
import shutil
from pathlib import Path

import pytest
from forks import Forks
from mounts import small_disk
from project import Project, built, clone, stages
from test_damage import flip
from test_kills import assert_whole_or_absent, strike

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("protocols")]
LADDER = {
    "datasets": ["digits"], "buffer": 50, "methods": ["er"], "theta": 0.8,
    "train_images": 500, "test_images": 100,
}  # fmt: skip
LITE0 = "digits@ladder/efficientnet_lite0"
DRIFTED = f"outputs/streamed/{LITE0}@train-dataset/train-view3-0000.safetensors"
RUN = "digits/efficientnet_lite0/er/modern_hopfield-t0.8/b50/seed3.json"
RECORD = f"outputs/rungs/digits/er/rung00/{RUN}"
DAMAGED = {  # artifact: the job that makes it
    DRIFTED: f"streamed:{LITE0}@train-dataset",
    RECORD: "rungs:digits/er",
    "outputs/ladder/ladder.csv": "ladder:all",
}


@pytest.fixture(scope="module")
def with_ladder(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Project:
    """A built suite with a ladder; seeds that are not their own places in the list."""
    folder = tmp_path_factory.mktemp("ladder") / "sharc"
    project = forks.project(clone(folder, methods=("sgd",)).folder)
    project.set(suites__demo__ladder=LADDER, suites__demo__seeds=[0, 3])
    project.snakemake()
    return project


@pytest.fixture
def copied(with_ladder: Project, tmp_path: Path) -> Project:
    return with_ladder.copied(tmp_path / "sharc")


def test_the_ladder_is_built_once_and_both_tools_rest(copied: Project):
    assert "what the authors' code does" in copied.text("outputs/ladder/ladder.md")
    assert "Where the paper" in copied.text("outputs/report.html")
    assert "Nothing to be done" in copied.snakemake()
    assert built(copied.repro()) == set()
    assert "up to date" in copied.run("dvc", "status")


def test_a_switch_of_the_reference_rebuilds_the_ladder_and_no_table(copied: Project):
    copied.set(protocols__reference__forget="task")
    assert stages(built(copied.snakemake())) == {"rungs", "ladder", "report"}


@pytest.mark.parametrize("artifact", DAMAGED)
def test_a_flipped_byte_is_noticed_and_exactly_its_job_is_built_again(
    with_ladder: Project, copied: Project, artifact: str
):
    flip(copied.folder / artifact, random.Random(artifact))
    output = copied.snakemake()
    assert f"{artifact} was modified since it was built: it will be rebuilt." in output
    assert built(output) == {DAMAGED[artifact]}
    assert copied.results() == with_ladder.results()


@pytest.mark.parametrize(
    ("artifact", "target"),
    [
        (DRIFTED, f"outputs/streamed/{LITE0}@train-dataset/meta.json"),
        (RECORD, "outputs/rungs/digits/er/receipt.json"),
        ("outputs/ladder/ladder.csv", "outputs/ladder/ladder.md"),
    ],
)
def test_a_full_disk_is_said_to_be_full(
    with_ladder: Project, copied: Project, artifact: str, target: str
):
    words = ("python", "-m", "sharc.entry.job", target, "--suite", "demo", "--log", "it.log")
    with small_disk(copied.folder / "outputs") as disk:
        shutil.rmtree((copied.folder / artifact).parent)
        disk.leave(room=2000)
        output = copied.run(*words, code=2)
        assert "the disk is full" in output
        assert "Traceback" not in output
        disk.free()
        assert "built" in copied.run(*words)
        assert copied.results() == with_ladder.results()


def test_kills_in_the_ladders_stages_leave_no_trace_in_the_results(
    with_ladder: Project, copied: Project
):
    chance, separate = random.Random(7), Project(copied.folder)  # to be struck as a user's are
    struck = [strike(separate, s, chance, jobs=True) for s in ("streamed", "rungs", "ladder")]
    assert_whole_or_absent(copied, with_ladder.results())
    copied.snakemake()
    for build in struck:
        build.end()
    assert copied.results() == with_ladder.results()


def test_a_suite_trains_under_the_reference_protocol(tmp_path: Path):
    project = clone(tmp_path / "sharc", methods=("sgd", "joint", "er", "derpp", "clser"))
    project.set(protocol="reference", sharc__memory="bayes_pcn", memories__bayes_pcn__steps=5)
    jobs = built(project.snakemake())
    assert "streamed:digits/efficientnet_lite0" in jobs
    assert "features" not in stages(jobs)
    assert "Nothing to be done" in project.snakemake()
