"""A folder without a Git history, such as `sharc init` writes: it builds, and says so."""

import json
import shutil

import pytest
from project import Project

pytestmark = pytest.mark.slow


def test_a_project_without_git_builds_its_report_and_traces_its_cells(separate: Project):
    shutil.rmtree(separate.folder / ".git")
    separate.set(suites__demo__methods=["sgd"], train__learning_rate=0.03)
    separate.snakemake()
    made = json.loads(separate.text("outputs/provenance/report/all.json"))
    assert made["commit"] is None
    assert '"commit": "no commit"' in separate.text("outputs/report.html")
    assert "commit    no commit\n" in separate.run("sharc", "trace", "sgd", "task_il", "0")
