"""One cell that fails: the others go on, tables show the gap, the exit code is not 0."""

import json

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
    line = module.read_text().splitlines().index(SABOTAGE.splitlines()[7]) + 1
    said = f"src/sharc/strategies/er.py:{line}: ER: RuntimeError: caused on purpose"
    first = f"outputs/runs/{LITE0}/er/dense/b60/seed0.json"
    log = f"outputs/logs/train/{LITE0}/er/dense.log"
    assert f"\n6 runs failed:\n  {first} and 5 more: {said} ({log})\n" in output
    assert f"\n2 of its runs failed:\n  {first} and 1 more: {said}\n" in project.text(log)
    assert "missing" in project.text("outputs/tables/task_il_main.md")
    assert "report.html" in {path.name for path in (project.folder / "outputs").iterdir()}

    project.run("sharc", "export", "results/gap")
    missing = json.loads(project.text("results/gap/made.json"))["failed"]
    assert missing[first] == said

    before = project.records()
    assert "caused on purpose" in project.snakemake(code=1)
    after = project.records()
    again = {name for name in before if before[name] != after[name]}
    assert again
    assert all("/er/" in name and "/b60/" in name for name in again)

    module.write_text(sound)
    project.snakemake()
    assert "missing" not in project.text("outputs/tables/task_il_main.md")


BY_LOSS = """
from sharc.strategies.by_loss import LossStrategy
from sharc.strategies.sgd import SGD


class Mine({base}):
{body}
"""
BROKEN = {
    "vector": ("    def loss(self, new, *old):\n        return new.logits.sum(dim=1)",
               "7: Mine: `loss` must return one number per run, got shape (10,)"),
    "endless": ("    def loss(self, new, *old):\n        return new.logits.sum() * float('nan')",
                "7 stays finite"),
    "lacking": ("    pass", "6: Mine lacks loss"),
    "raising": ("    x = 1 / 0", "7 raises ZeroDivisionError: division by zero on import"),
    "closed": ("    loss_form = None", "6: Mine knows its gradient only for a linear head"),
}  # fmt: skip


def test_a_method_of_ones_own_that_is_broken_is_named_by_file_and_line_and_costs_no_other_cell(
    project: Project,
):
    for name, (body, _) in BROKEN.items():
        text = BY_LOSS.format(base="SGD" if name == "closed" else "LossStrategy", body=body)
        (project.folder / f"own/{name}.py").write_text(text)
    project.set(suites__demo__methods=["sgd", *BROKEN], suites__demo__figure1=None)
    project.set(train__classifier="mlp", train__hidden=8)
    project.set(**{f"methods__{name}": {"class": f"own/{name}.py:Mine"} for name in BROKEN})
    output = project.snakemake(code=1)
    for name, (_, said) in BROKEN.items():
        assert f"own/{name}.py:{said}" in output, name
    table = project.text("outputs/tables/task_il_main.md")
    rows = [row.split("|") for row in table.splitlines() if row.startswith("|")]
    missing = {row[2].strip() for row in rows if "missing" in "".join(row)}
    assert missing == set(BROKEN)
    assert "| SGD |" in table
    assert "closed" in project.text("outputs/report.html")

    project.set(methods__er={"class": "own/vector.py:Mine"})
    assert "methods.er: 'er' is a method of sharc's own" in project.run("sharc", "validate", code=2)


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
    assert f"see {log}" in output
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
