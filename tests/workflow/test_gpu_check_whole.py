"""`make gpu-check` from its first to its last step, the processor in place of a GPU."""

import csv
import json

import pytest
from project import Project

pytestmark = pytest.mark.slow


def test_only_the_cell_whose_committed_number_was_altered_does_not_agree(separate: Project):
    project = separate
    project.run("sharc", "export", "results/demo")
    summary = project.folder / "results/demo/summary.csv"
    header, *rows = csv.reader(summary.read_text().splitlines())
    altered = dict(zip(header, rows[3], strict=True))
    acc = float(altered["acc_mean"])
    rows[3][header.index("acc_mean")] = str(acc * 1.01)
    with summary.open("w") as file:
        csv.writer(file).writerows([header, *rows])
    project.commit("one number altered")
    project.set(train__learning_rate=0.5)  # not committed, so it has no say
    before, params = project.results(), project.text("params.yaml")
    ready = project.folder / ".venv/.ready"
    ready.parent.mkdir()
    ready.touch()  # the environment is the one that runs this test

    said = project.run("make", "gpu-check", "DEVICE=cpu", code=2)  # make's own code for a failure

    name = f"digits/{altered['method']}/{altered['variant']}/b{altered['buffer']}"
    assert "1 differ by more than 0.1 %" in said
    assert f"The largest difference: {name}" in said
    assert f"beyond: {name} {altered['scenario']}: {acc * 1.01:.4f} committed, {acc:.4f}" in said
    sent = json.loads(project.text("outputs/gpu-check/gpu-check.json"))
    assert sent["agreement"]["cells"] == len(rows)
    assert sent["agreement"]["runs_with_the_same_acc"] == sent["agreement"]["runs"]
    assert {"features", "train", "collect"} <= sent["build"]["job_seconds"].keys()
    assert (project.results(), project.text("params.yaml")) == (before, params)
    assert project.run("git", "status", "--porcelain").split() == ["M", "params.yaml"]
