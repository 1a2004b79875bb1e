"""What is copied for Git: small files as they are, large tables packed, what is left out said."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sharc.cli.export import copied, replaced
from sharc.errors import UserError
from sharc.results.folder import Results


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


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A folder with an export in it."""
    folder = tmp_path / "offline"
    folder.mkdir()
    (folder / "made.json").write_text("old")
    return folder


def test_only_an_earlier_export_is_overwritten(earlier: Path) -> None:
    too_high = earlier.parent
    with pytest.raises(UserError, match=r"not an earlier.*results/mine"), replaced(too_high):
        pass
    with pytest.raises(UserError, match="is a file"), replaced(earlier / "made.json"):
        pass
    assert (earlier / "made.json").read_text() == "old"
    with replaced(earlier) as out:
        (out / "made.json").write_text("new")
    assert (earlier / "made.json").read_text() == "new"
    assert list(earlier.parent.iterdir()) == [earlier]


def test_an_export_that_fails_leaves_the_earlier_one_and_no_trace(earlier: Path) -> None:
    with pytest.raises(OSError, match="disk"), replaced(earlier) as out:
        (out / "runs.csv").write_text("half")
        raise OSError("disk")
    assert list(earlier.parent.iterdir()) == [earlier]
    assert [path.name for path in earlier.iterdir()] == ["made.json"]
