"""Snakemake as its users know it: targets, options and words, on one finished suite."""

import re
import subprocess
from pathlib import Path

import pytest
from project import Project, built, stages

pytestmark = pytest.mark.slow
LITE0 = "digits/efficientnet_lite0"
NOTHING = "Nothing to be done"


def planned(output: str) -> set[str]:
    """The jobs that a dry run lists."""
    return set(re.findall(r"^Job \d+: (\w+ \S+): ", output, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def bare(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The finished suite's clone without anything built."""
    folder = tmp_path_factory.mktemp("bare") / "sharc"
    finished.run("git", "clone", "-q", ".", str(folder))
    return Project(folder)


@pytest.mark.parametrize(
    ("target", "last"),
    [
        ("outputs/report.html", "report all"),
        ("outputs/tables/class_il_main.md", "tables all"),
        ("outputs/figures/curves_digits_class_il.png", "figures all"),
        ("outputs/results/runs.csv", "collect all"),
        ("outputs/claims.md", "claims all"),
        ("outputs/figure1/digits", "figure1 digits"),
        (f"./outputs/features/{LITE0}", f"features {LITE0}"),
        (f"outputs/runs/{LITE0}/er/dense/b50/seed1.json", f"train {LITE0}/er/dense"),
        (f"outputs/runs/{LITE0}/er/dense/b50", f"train {LITE0}/er/dense"),
        (f"outputs/runs/{LITE0}/er/dense", f"train {LITE0}/er/dense"),
        ("data/splits/digits.json", "split digits"),
        ("data/raw/digits/train.safetensors", "download digits"),
    ],
)
def test_every_artifact_is_a_target_before_it_is_built(bare: Project, target: str, last: str):
    jobs = planned(bare.run("snakemake", "-n", target))
    assert last in jobs
    later = {"download": 1, "split": 2, "features": 2, "figure1": 2, "train": 4, "collect": 9}
    assert len(jobs) == later.get(last.split(maxsplit=1)[0], len(jobs))


def test_a_folder_stands_for_every_job_that_makes_something_in_it(bare: Project):
    jobs = planned(bare.run("snakemake", "-n", f"outputs/runs/{LITE0}/gem"))
    assert {job for job in jobs if job.startswith("train")} == {
        f"train {LITE0}/gem/dense", f"train {LITE0}/gem/modern_hopfield",
    }  # fmt: skip


def test_a_file_that_no_job_makes_is_refused_as_snakemake_does(finished: Project):
    output = finished.run("snakemake", "-n", "outputs/tables/nothing.md", code=1)
    assert "No rule to produce outputs/tables/nothing.md" in output


def test_until_stops_after_a_stage(bare: Project):
    jobs = planned(bare.run("snakemake", "-n", "--until", "features"))
    assert jobs == {"download digits", f"features {LITE0}"}


def test_the_rule_graph_names_the_stages_and_how_they_follow(finished: Project):
    words = ["snakemake", "--rulegraph"]
    graph = subprocess.run(
        words, cwd=finished.folder, env=finished.environment(), capture_output=True, check=True
    ).stdout.decode()
    assert graph.startswith("digraph")  # nothing but the graph, ready for `dot`
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', graph))
    arrows = {(names[a], names[b]) for a, b in re.findall(r"(\d+) -> (\d+)", graph)}
    assert {("split", "train"), ("features", "train"), ("train", "collect")} <= arrows
    assert ("collect", "report") not in arrows
    assert {("tables", "report"), ("figures", "report"), ("claims", "report")} <= arrows


def test_the_summary_lists_every_output_with_its_rule_and_state(finished: Project):
    rows = finished.run("snakemake", "--summary").splitlines()
    [report] = [row.split("\t") for row in rows if row.startswith("outputs/report.html\t")]
    assert report[2] == "report"
    assert report[-2:] == ["ok", "no update"]


def test_snakemakes_own_report_shows_figures_tables_and_captions(project: Project):
    project.run("snakemake", "--report", "outputs/snakemake.html")
    page = project.text("outputs/snakemake.html")
    for shown in (
        "curves_digits_class_il.png",
        "comparison.html",
        "report.html",
        "Figures",
        "Tables",
    ):
        assert shown in page, shown
    for caption in ("drawn from", "mean and standard deviation over", "All of suite"):
        assert caption in page, caption


def test_forcerun_trains_again_and_keeps_what_comes_out_the_same(
    finished: Project, project: Project
):
    before = project.records()
    target = f"outputs/runs/{LITE0}/sgd/dense.receipt.json"
    output = project.snakemake("--forcerun", target)
    assert built(output) == {f"train:{LITE0}/sgd/dense"}
    again = {name for name, written in project.records().items() if before[name] != written}
    assert again == {f"{LITE0}/sgd/dense/b0/seed{seed}.json" for seed in (0, 1)}
    assert project.results() == finished.results()
    assert stages(planned_ids(project.run("snakemake", "-n", "--forcerun", "train"))) >= {"train"}
    assert NOTHING in project.snakemake()


def planned_ids(output: str) -> set[str]:
    return {job.replace(" ", ":") for job in planned(output)}


def test_touch_accepts_what_lies_there_and_says_so_in_its_provenance(project: Project):
    before = project.records()
    with (project.folder / "src/sharc/strategies/er.py").open("a") as file:
        file.write("\n# a remark\n")
    assert f"train {LITE0}/er/dense" in planned(project.run("snakemake", "-n"))
    project.snakemake("--touch")
    assert NOTHING in project.snakemake()
    assert project.records() == before
    assert "up to date" in project.run("dvc", "status")
    record = project.text(f"outputs/provenance/train/{LITE0}/er/dense.json")
    assert '"made_as"' in record
    project.set(suites__demo__seeds=[0, 1, 2])
    plan = project.run("snakemake", "-n")
    assert f"train {LITE0}/er/dense: seed 2 is missing (2 of 3 cached)" in plan


def test_another_suite_is_built_and_not_recorded_in_dvc(project: Project):
    project.set(suites__other=yaml_suite(project, "demo") | {"methods": ["sgd"]})
    lock = project.text("dvc.lock")
    output = project.snakemake("--config", "suite=other")
    assert "DVC follows params.yaml, so nothing was recorded" in output
    assert project.text("dvc.lock") == lock
    assert stages(built(output)) == {"collect", "tables", "figures", "claims", "report"}


def yaml_suite(project: Project, name: str) -> dict[str, object]:
    import yaml

    suite: dict[str, object] = yaml.safe_load(project.text("params.yaml"))["suites"][name]
    return suite


def test_a_job_that_fails_costs_only_what_follows_from_it(project: Project):
    (project.folder / "src/sharc/stages/figure1.py").write_text("raise RuntimeError('broken')\n")
    (project.folder / f"outputs/runs/{LITE0}/sgd/dense/b0/seed0.json").unlink()
    output = project.snakemake("--keep-going", code=1)
    assert "RuntimeError: broken" in output
    assert built(output) == {f"train:{LITE0}/sgd/dense", "tables:all"} | {"collect:all"} & built(
        output
    ) or built(output) == {f"train:{LITE0}/sgd/dense"}
    assert Path(project.folder / f"outputs/runs/{LITE0}/sgd/dense/b0/seed0.json").is_file()
