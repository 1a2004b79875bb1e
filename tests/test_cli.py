"""The command line itself: what it is called, its version, its bad words."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import sharc
from sharc.cli import app
from sharc.errors import UserError


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
