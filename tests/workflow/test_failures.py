"""One cell that fails: the others go on, tables show the gap, the exit code is not 0."""

import pytest
from project import Project, built, stages

pytestmark = pytest.mark.slow
LITE0 = "digits/efficientnet_lite0"
DVC_FAILED = 255
SABOTAGE = """

_begin = ER.begin_task


def _begin_or_fail(self, task, replay, steps):
    if task == 2 and any(run.buffer == 60 for run in self.runs):
        raise RuntimeError("caused on purpose")
    _begin(self, task, replay, steps)


ER.begin_task = _begin_or_fail
"""


def test_a_cell_that_raises_costs_no_other_cell_and_is_tried_again(project: Project):
    module = project.folder / "src/sharc/strategies/er.py"
    sound = module.read_text()
    module.write_text(sound + SABOTAGE)
    project.set(suites__demo__buffers=[50, 60])
    output = project.snakemake(code=1)
    failed = f"outputs/runs/{LITE0}/er/dense/b60/seed0.json: RuntimeError: caused on purpose"
    assert failed in output
    assert f"(outputs/logs/train/{LITE0}/er/dense.log)" in output
    assert failed in project.text(f"outputs/logs/train/{LITE0}/er/dense.log")
    assert "missing" in project.text("outputs/tables/task_il_main.md")
    assert "report.html" in {path.name for path in (project.folder / "outputs").iterdir()}

    before = project.records()
    assert "caused on purpose" in project.snakemake(code=1)
    after = project.records()
    again = {name for name in before if before[name] != after[name]}
    assert again
    assert all("/er/" in name and "/b60/" in name for name in again)

    module.write_text(sound)
    project.snakemake()
    assert "missing" not in project.text("outputs/tables/task_il_main.md")


def test_a_method_that_diverges_is_missing_from_the_tables_and_comes_back(
    finished: Project, project: Project
):
    sound = project.text("params.yaml")
    project.set(suites__demo__methods=["sgd", "er", "gem", "derpp"])
    project.set(methods__derpp={"alpha": 1e30, "beta": 0.5})
    output = project.snakemake(code=1)
    assert f"outputs/runs/{LITE0}/derpp/dense/b50/seed0.json: " in output
    assert "diverged" in project.text("outputs/results/runs.csv")
    assert "missing" in project.text("outputs/tables/task_il_main.md")
    (project.folder / "params.yaml").write_text(sound)
    project.snakemake()
    assert project.results() == finished.results()


def test_through_dvc_a_diverging_method_fails_the_stage_train_and_costs_no_other_cell(
    project: Project,
):
    before = project.records()
    project.set(suites__demo__methods=["sgd", "er", "gem", "derpp"])
    project.set(methods__derpp={"alpha": 1e30, "beta": 0.5})
    output = project.run("dvc", "repro", code=DVC_FAILED)
    assert f"outputs/runs/{LITE0}/derpp/dense/b50/seed0.json: " in output
    log = f"outputs/logs/train/{LITE0}/derpp/dense.log"
    assert f"look into {log}" in output
    assert "diverged" in project.text(log)
    assert stages(built(output)) == {"train", "collect", "tables", "figures", "claims", "report"}
    assert before.items() <= project.records().items()
    assert "missing" in project.text("outputs/tables/task_il_main.md")

    project.set(methods__derpp={"alpha": 0.001, "beta": 0.5})
    repaired = built(project.repro())
    trained = {job for job in repaired if job.startswith("train:")}
    assert trained == {f"train:{LITE0}/derpp/{kept}" for kept in ("dense", "modern_hopfield")}
    assert stages(repaired) == {"train", "collect", "tables", "figures", "claims", "report"}
    assert before.items() <= project.records().items()
    assert "missing" not in project.text("outputs/tables/task_il_main.md")
    assert "up to date" in project.run("dvc", "status")
