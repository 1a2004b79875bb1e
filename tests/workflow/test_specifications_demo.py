"""The suite `specifications_demo`, built from nothing, and its export."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
from project import ROOT, clone

from sharc.artifacts.files import read_json
from sharc.results.layout import SCENARIOS
from sharc.specifications import saved
from sharc.specifications.outcomes import outcomes

pytestmark = pytest.mark.slow
COMMITTED = ROOT / "results/specifications_demo"
# Points, of the mean gain of a specification: tasks of 70 images and a learning rate at which each
# step amplifies rounding, as REPRODUCIBILITY.md tells of the suite `demo` (3.7 at most there).
TOLERANCE = 8.0


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite built in a clone with the real parameters, and exported."""
    project = clone(tmp_path_factory.mktemp("specifications") / "sharc")
    shutil.copy2(ROOT / "params.yaml", project.folder)
    command = ("snakemake", "--cores", "2", "outputs/specifications/index.json")
    project.run(*command, "--config", "suite=specifications_demo")
    project.run("sharc", "export", "results/mine", "--suite", "specifications_demo")
    return project.folder / "results/mine"


def test_every_specification_was_trained_and_no_run_is_missing(exported: Path):
    questions, measured = saved.read(exported)
    runs = saved.read_runs(exported)
    assert len(questions.specifications) == 23
    assert set(runs["seed"]) == set(range(5))
    assert runs.notna().all(axis=None)
    for outcome in outcomes(questions, measured["acc"]):
        assert not outcome.curve.missing


def test_the_export_has_all_that_its_index_speaks_of(exported: Path):
    index, made = read_json(exported / "index.json"), read_json(exported / "made.json")
    assert len(index["answer"]) == 3
    pictures = [name for f in index["figures"] for name in f["files"] if name.endswith(".png")]
    assert len(pictures) == 2 * 7  # all questions at once, three in two scenarios; wide and narrow
    assert [name for name in pictures if not (exported / name).is_file()] == []
    assert made["left_out"] == []
    assert {row["stage"] for row in made["cost"]} >= {"streamed", "specified", "specifications"}
    assert "--until specifications" in made["command"]


@pytest.mark.skipif(not COMMITTED.is_dir(), reason="results/specifications_demo is not committed")
def test_the_gains_are_those_that_are_committed(exported: Path):
    for scenario in SCENARIOS:
        found, wanted = (
            pd.read_csv(folder / f"curve_gain_{scenario}.csv", dtype={"specification": str})
            .set_index("specification")["gain"].sort_index()
            for folder in (exported, COMMITTED)
        )  # fmt: skip
        assert list(found.index) == list(wanted.index)
        assert (found - wanted).abs().max() < TOLERANCE
