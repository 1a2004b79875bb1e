"""The command line itself: what it is called, its version, its bad words."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sharc
from sharc.cli import app
from sharc.errors import UserError

PARAMS = Path(__file__).parents[1] / "params.yaml"


def test_the_version_is_that_of_the_package_and_the_module_is_the_command():
    assert CliRunner().invoke(app, ["--version"]).output == f"sharc {sharc.__version__}\n"
    done = subprocess.run(
        [sys.executable, "-m", "sharc", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"sharc {sharc.__version__}\n"


def test_two_builds_are_compared_and_a_bad_one_is_named():
    shown = CliRunner().invoke(app, ["compare", "results/cifar10", "offline"])
    assert "40 cells in both (352 only in B)" in shown.output
    with pytest.raises(UserError, match="'nothing' holds no results"):
        CliRunner().invoke(app, ["compare", "demo", "nothing"], catch_exceptions=False)


def test_a_cell_of_ones_own_method_is_traced_like_any_other(monkeypatch, tmp_path: Path):
    (tmp_path / "mine.py").write_text("from sharc.strategies.er import ER\n\nclass Mine(ER): ...")
    text = PARAMS.read_text().replace("  agem: {}", "  mine: {class: mine.py:Mine}\n  agem: {}", 1)
    text = text.replace("methods: [sgd, joint, er,", "methods: [sgd, joint, mine, er,", 1)
    (tmp_path / "params.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="train:digits/efficientnet_lite0/mine/dense is not built"):
        CliRunner().invoke(app, ["trace", "mine", "class_il", "50"], catch_exceptions=False)
    with pytest.raises(UserError, match=r"suite 'demo': unknown method 'lwf'\. .*Known: agem, "):
        CliRunner().invoke(app, ["trace", "lwf", "class_il", "50"], catch_exceptions=False)
