"""What is copied for Git: small files as they are, large tables packed, what is left out said."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharc.cli.export import _emptied, copied
from sharc.errors import UserError
from sharc.results.frames import Results


def test_a_large_table_is_packed_and_read_back_the_same(tmp_path: Path) -> None:
    runs = pd.DataFrame({"seed": range(60_000), "acc": 91.25})
    runs.to_csv(tmp_path / "runs.csv", index=False)
    out = tmp_path / "out"
    out.mkdir()
    assert copied(tmp_path / "runs.csv", out)
    assert [path.name for path in out.iterdir()] == ["runs.csv.gz"]
    assert Results(out).runs.equals(runs)
    first = (out / "runs.csv.gz").read_bytes()
    copied(tmp_path / "runs.csv", out)
    assert (out / "runs.csv.gz").read_bytes() == first  # no time of day inside


def test_what_stays_too_large_is_left_out_and_said(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).random(60_000)
    pd.DataFrame({"mse": noise}).to_csv(tmp_path / "recall.csv", index=False)
    out = tmp_path / "out"
    out.mkdir()
    assert not copied(tmp_path / "recall.csv", out)
    assert not list(out.iterdir())


def test_only_an_earlier_export_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "offline").mkdir()
    (tmp_path / "offline/made.json").write_text("{}")
    with pytest.raises(UserError, match=r"not an earlier export.*results/mine"):
        _emptied(tmp_path)  # one folder too high
    _emptied(tmp_path / "offline")
    assert not list((tmp_path / "offline").iterdir())
