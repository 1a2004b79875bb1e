"""Committed results of a suite with specifications follow from its design and their two tables.

What is not committed yet is not tested; nothing but the export is needed for that.
"""

from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from sharc.artifacts.files import read_json
from sharc.config import load_params
from sharc.specifications import saved
from sharc.specifications.plan import plan
from sharc.stages import specifications as stage

ROOT = Path(__file__).parents[1]
CLAIMS = ROOT / "data/paper/claims.yaml"
SUITES = [
    name
    for name in ("specifications", "power", "specifications_demo")
    if (ROOT / "results" / name / saved.INDEX).is_file()
]


@pytest.mark.parametrize("suite", SUITES)
def test_the_committed_design_is_that_of_params_yaml(suite):
    made = plan(load_params(ROOT / "params.yaml", suite)).design
    questions, _ = saved.read(ROOT / "results" / suite)
    assert [spec.id for spec in questions.specifications] == [spec.id for spec in made.all]
    assert questions.sample == {spec.id for spec in made.sample}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_the_committed_analysis_follows_from_the_committed_runs(suite, tmp_path):
    committed = ROOT / "results" / suite
    stage.analyse(*saved.read(committed), CLAIMS, tmp_path)
    for made in sorted(tmp_path.glob("*.csv")):
        texts = {"specification": str}
        found, wanted = (pd.read_csv(f / made.name, dtype=texts) for f in (tmp_path, committed))
        assert_frame_equal(found, wanted, rtol=1e-4, atol=1e-6)
    assert read_json(tmp_path / saved.INDEX) == read_json(committed / saved.INDEX)
