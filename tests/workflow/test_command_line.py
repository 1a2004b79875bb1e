"""`sharc` on a finished build: what it says is what is there."""

import json
import re
from pathlib import Path

import pytest
from project import Project

pytestmark = pytest.mark.slow
RUNS = "outputs/runs/digits/efficientnet_lite0"
JOB = "digits/efficientnet_lite0/er/dense.json"


def test_a_finished_build_has_nothing_to_do(finished: Project):
    assert "Everything is current" in finished.run("sharc", "grid")


def test_the_grid_says_what_would_run_and_why(project: Project):
    project.set(methods__gem={"margin": 0.25, "ridge": 0.001}, suites__demo__seeds=[0, 1, 5])
    with (project.folder / "src/sharc/strategies/sgd.py").open("a") as file:
        file.write("# a remark\n")
    rows = {}
    for line in project.run("sharc", "grid", env={"COLUMNS": "60"}).splitlines():
        if line.startswith("train:"):
            name, state, why = re.split("  +", line, maxsplit=2)
            rows[name.removeprefix("train:digits/efficientnet_lite0/")] = f"{state}, {why}"
    assert rows == {
        "sgd/dense": "to run, suites.demo.seeds changed: [0, 1] -> [0, 1, 5]; "
        "src/sharc/strategies/sgd.py changed",
        "er/dense": "to run, seed 5 is missing (2 of 3 cached)",
        "er/modern_hopfield": "to run, seed 5 is missing (2 of 3 cached)",
        "gem/dense": "to run, methods.gem.margin changed: 0.5 -> 0.25; "
        "suites.demo.seeds changed: [0, 1] -> [0, 1, 5]",
        "gem/modern_hopfield": "to run, methods.gem.margin changed: 0.5 -> 0.25; "
        "suites.demo.seeds changed: [0, 1] -> [0, 1, 5]",
    }
    plan = project.snakemake("-n")
    assert "train digits/efficientnet_lite0/er/dense: seed 5 is missing (2 of 3 cached)" in plan


def test_a_run_shows_its_accuracy_ledger_and_provenance(finished: Project):
    name = f"{RUNS}/er/modern_hopfield-t0.8/b50/seed0.json"
    shown = finished.run("sharc", "inspect", name, env={"COLUMNS": "160"})
    run = json.loads(finished.text(name))
    last = run["accuracy"]["class_il"][-1]
    assert f"ACC {sum(last) / len(last):.2f}" in shown
    assert f"{run['ledger']['parts']['memory_weights']['floats']:,}" in shown
    assert finished.run("git", "rev-parse", "HEAD~1").strip() in shown


def test_features_show_shapes_counts_and_sparsity(finished: Project):
    shown = finished.run("sharc", "inspect", "outputs/features/digits", env={"COLUMNS": "160"})
    for fact in ("float16", "[1438, 2, 2, 1280]", "per_class", "zeros"):
        assert fact in shown


def test_a_folder_without_finished_features_is_no_crash(project: Project):
    (project.folder / "outputs/features/digits/efficientnet_lite0/receipt.json").unlink()
    said = project.run("sharc", "inspect", "outputs/features/digits", code=2)
    assert "holds no finished features: build them with" in said


def test_recalled_maps_are_drawn_next_to_the_originals(finished: Project, tmp_path: Path):
    picture = tmp_path / "maps.png"
    name = f"{RUNS}/er/modern_hopfield-t0.8/b50/seed0.json"
    finished.run("sharc", "inspect", name, "--picture", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    dense = f"{RUNS}/er/dense/b50/seed0.json"
    refused = finished.run("sharc", "inspect", dense, "--picture", str(picture), code=2)
    assert "is not a run with an associative memory" in refused


def test_a_cell_is_traced_to_its_runs_commit_and_data(finished: Project):
    shown = finished.run("sharc", "trace", "er+", "class_il", "50")
    assert shown.startswith("ER+ on S-Digits, Class-IL, buffer 50, modern Hopfield, θ = 0.5")
    assert "er/modern_hopfield-t0.5/b50/" in shown
    assert "seed1.json" in shown
    assert len(shown.splitlines()) < 25
    summary = finished.text("outputs/results/summary.csv").splitlines()
    (row,) = [row for row in summary if "er,modern_hopfield-t0.5" in row and "class_il" in row]
    assert f"{float(row.split(',')[10]):.2f} ± " in shown
    assert "options" in finished.run("sharc", "trace", "er+", "class_il", "50", "--all")
    assert finished.run("git", "rev-parse", "HEAD~1").strip() in shown
    digest = json.loads(finished.text("data/raw/digits/meta.json"))["splits"]["train"]["digest"]
    assert digest in shown.replace("\n", "")


def test_an_export_holds_the_tables_and_says_what_made_them(finished: Project, tmp_path: Path):
    finished.run("sharc", "export", str(tmp_path / "results"))
    for name in (
        "summary.csv",
        "runs.csv",
        "comparison.md",
        "claims.md",
        "curves_digits_task_il.png",
    ):
        assert (tmp_path / "results" / name).is_file()
    made = json.loads((tmp_path / "results/made.json").read_text())
    assert made["commit"] == finished.run("git", "rev-parse", "HEAD~1").strip()
    assert made["uncommitted changes"] == "no"
    assert made["left_out"] == []
    assert 0 <= made["duration"]["percent_not_computing"] < 100


def test_an_export_leaves_alone_what_other_suites_built(project: Project, tmp_path: Path):
    other = project.folder / "outputs/figure1/zebra/figure1.json"
    other.parent.mkdir()
    other.write_text("{}")
    project.run("sharc", "export", str(tmp_path / "results"))
    kept = (tmp_path / "results/figure1.json").read_text()
    assert kept == project.text("outputs/figure1/digits/figure1.json")


def test_an_export_of_some_stages_holds_those_alone(finished: Project, tmp_path: Path):
    words = ("sharc", "export", str(tmp_path / "results"), "--only", "tables", "--only")
    assert "unknown stage to export 'claim'" in finished.run(*words, "claim", code=2)
    finished.run(*words, "claims")
    assert (tmp_path / "results/comparison.md").is_file()
    assert (tmp_path / "results/claims.md").is_file()
    assert not (tmp_path / "results/summary.csv").exists()
    made = json.loads((tmp_path / "results/made.json").read_text())
    assert "all --until tables claims" in made["command"]
    assert {"train", "tables", "claims"} <= {row["stage"] for row in made["cost"]}
    assert "report" not in {row["stage"] for row in made["cost"]}


def test_a_suite_that_is_not_finished_is_not_exported(project: Project, tmp_path: Path):
    (project.folder / "outputs/results/summary.csv").unlink()
    said = project.run("sharc", "export", str(tmp_path / "results"), code=2)
    assert "collect:all is not current: outputs/results/summary.csv is missing" in said
    assert not (tmp_path / "results").exists()


def test_every_job_has_a_record_of_what_it_was_made_from_where_and_at_what_cost(finished: Project):
    known = {"commit", "dirty", "params", "sources", "source_digest", "inputs", "outputs"}
    known |= {"packages", "processor", "device", "threads", "seeds", "suite", "key"}
    known |= {"wall_seconds", "cpu_seconds", "peak_memory_mb"}
    records = list((finished.folder / "outputs/provenance").rglob("*.json"))
    assert len(records) == 14
    for path in records:
        record = json.loads(path.read_text())
        assert known <= set(record), path
        assert record["dirty"] is False
        assert record["peak_memory_mb"] > 1
    train = json.loads((finished.folder / f"outputs/provenance/train/{JOB}").read_text())
    assert train["seeds"] == [0, 1]
    assert set(train["packages"]) >= {"torch", "numpy"}
