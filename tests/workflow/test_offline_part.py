"""A part of the suite `offline`, built from nothing, gives the figures committed for it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from project import ROOT, Project, clone

from mirror_folder import mirror

MIRROR = mirror()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(MIRROR is None, reason="no mirror folder: set SHARC_MIRROR to one"),
]
ROW = ["dataset", "backbone", "method", "variant", "buffer", "scenario"]
EXACT = ["n", "n_missing", "items", "counted_floats", "total_bytes"]
SCORES = ["acc_mean", "bwt_mean", "forgetting_mean"]
# Points, of means over five seeds. Features of another runtime than the committed results' differ
# by 2e-6 of their length, and moved these means by up to 0.47 and 0.29, because each step of
# training amplifies what the one before left. Twice that is allowed.
TOLERANCE = {"class_il": 1.0, "task_il": 0.6}


@pytest.fixture
def part(tmp_path: Path) -> Iterator[Project]:
    """A clone whose suite `offline` is cut to the smallest part that still shows a gain of SHARC.

    One data set, one buffer and one theta, which is one SHARC cell; all else, the five seeds
    too, is the suite's own, so that each cell must be the one of the whole suite.
    """
    project = clone(tmp_path / "sharc")
    shutil.copy2(ROOT / "params.yaml", project.folder)  # the real suites again
    project.set(
        suites__offline__datasets=["mini_imagenet"],
        suites__offline__methods=["sgd", "joint", "derpp"],
        suites__offline__buffers=[200],
        suites__offline__appendix_buffers=[],
        suites__offline__memories=None,
        suites__offline__thetas=None,
        sharc__theta__task_il=0.5,
    )
    yield project
    shutil.rmtree(tmp_path)  # more than a gigabyte, which pytest would keep


def test_a_part_built_from_nothing_gives_the_committed_figures(part: Project):
    part.run(
        "snakemake", "--cores", "2", "outputs/results", "--config", "suite=offline",
        env={"SHARC_MIRROR": str(MIRROR.resolve())},
    )  # fmt: skip
    found = summary(part.folder / "outputs/results")
    assert {(method, variant) for _, _, method, variant, _, _ in found.index} == {
        ("sgd", "dense"), ("joint", "dense"), ("derpp", "dense"), ("derpp", "bayes_pcn-t0.5"),
    }  # fmt: skip
    committed = summary(ROOT / "results/offline").loc[found.index]
    assert_frame_equal(found[EXACT], committed[EXACT], check_exact=True, check_dtype=False)
    for scenario, points in TOLERANCE.items():
        ours, theirs = (f.xs(scenario, level="scenario")[SCORES] for f in (found, committed))
        assert_frame_equal(ours, theirs, rtol=0, atol=points)
    # A gain moves as much as two means do; that it is one, its interval above zero, must stay.
    gains = found.xs(
        ("derpp", "bayes_pcn-t0.5", "class_il"), level=["method", "variant", "scenario"]
    )
    assert gains["gain_low"].item() > 0


def summary(folder: Path) -> pd.DataFrame:
    """The rows of a summary.csv by what names them."""
    return pd.read_csv(folder / "summary.csv").set_index(ROW)
