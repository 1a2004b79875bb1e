"""The authors' protocol and the ladder to the paper's, built like everything else."""

from pathlib import Path

import pytest
from project import Project, built, clone, families

pytestmark = pytest.mark.slow
LADDER = {
    "datasets": ["digits"], "buffer": 50, "methods": ["er"], "theta": 0.8,
    "train_images": 500, "test_images": 100,
}  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = clone(tmp_path_factory.mktemp("ladder") / "sharc", methods=("sgd",))
    project.set(suites__demo__ladder=LADDER, memories__bayes_pcn__steps=20)
    project.set(sharc__memory="bayes_pcn", suites__demo__seeds=[0, 3])
    project.snakemake()
    return project


def test_the_ladder_is_built_once_and_both_doors_rest(small: Project):
    assert "what the authors' code does" in small.text("outputs/ladder/ladder.md")
    assert "Where the paper" in small.text("outputs/report.html")
    assert "Nothing to be done" in small.snakemake()
    assert built(small.repro()) == set()
    assert "up to date" in small.run("dvc", "status")


def test_a_switch_of_the_reference_rebuilds_the_ladder_and_no_table(small: Project):
    small.set(protocols__reference__forget="task")
    units = built(small.snakemake())
    assert families(units) == {"rungs", "ladder", "report"}


def test_a_suite_trains_under_the_reference_protocol(small: Project, tmp_path: Path):
    project = clone(tmp_path / "sharc", methods=("sgd", "joint", "er", "derpp", "clser"))
    project.set(protocol="reference", sharc__memory="bayes_pcn", memories__bayes_pcn__steps=5)
    units = built(project.snakemake())
    assert "streamed:digits/efficientnet_lite0" in units
    assert "features" not in families(units)
    assert "Nothing to be done" in project.snakemake()
