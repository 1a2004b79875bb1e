"""What a build will take and how far it is: from committed records, and Snakemake's own words."""

import json
from pathlib import Path

import pytest

from sharc.config import load_params
from sharc.pipeline import build_graph
from sharc.workflow import estimate as estimates
from sharc.workflow.estimate import estimate, spoken
from sharc.workflow.freshness import State
from sharc.workflow.progress import Progress

RESULTS = Path(__file__).parents[1] / "results"
DEMO = json.loads((RESULTS / "demo" / "made.json").read_text())


@pytest.fixture(scope="module")
def demo():
    return build_graph(load_params(suite="demo"))


@pytest.fixture
def unbuilt(monkeypatch, tmp_path):
    """As in a fresh clone: no record of a build here."""
    monkeypatch.setattr("sharc.artifacts.provenance.FOLDER", tmp_path)


def state(graph, current):
    return {name: State(current(job)) for name, job in graph.jobs.items()}


def test_a_whole_demo_takes_what_its_record_says(demo, unbuilt):
    found = estimate(demo, state(demo, lambda job: False), cores=2)
    measured = 60 * DEMO["duration"]["minutes"]
    assert measured / 1.5 < found.seconds < measured * 1.5
    (train,) = (row for row in DEMO["cost"] if row["stage"] == "train")
    assert found.memory_mb == pytest.approx(2 * train["peak_mb"])
    assert found.source == "results/demo/made.json"
    disk = sum(row["disk_mb"] for row in DEMO["cost"])
    memory = 2 * train["peak_mb"] / 1000
    assert f"on 2 cores, {memory:.1f} GB of memory, {disk:.0f} MB of disk (from" in found.text()


def test_more_cores_take_less_and_a_part_takes_a_part(demo, unbuilt):
    whole = estimate(demo, state(demo, lambda job: False), cores=2)
    wide = estimate(demo, state(demo, lambda job: False), cores=8)
    part = estimate(demo, state(demo, lambda job: job.stage == "train"), cores=2)
    assert part.seconds < wide.seconds < whole.seconds
    alone = estimate(demo, state(demo, lambda job: False), cores=1)
    assert " on 1 core, " in alone.text()
    assert part.memory_mb < whole.memory_mb


def test_nothing_to_run_and_nothing_recorded_give_no_estimate(demo, unbuilt, monkeypatch, tmp_path):
    assert estimate(demo, state(demo, lambda job: True), cores=2) is None
    monkeypatch.setattr(estimates, "EXPORTS", tmp_path)
    assert estimate(demo, state(demo, lambda job: False), cores=2) is None


def test_the_specifications_have_an_estimate_before_they_begin(unbuilt):
    graph = build_graph(load_params(suite="specifications"))
    record = json.loads((RESULTS / "specifications" / "made.json").read_text())
    found = estimate(graph, state(graph, lambda job: False), cores=2)
    measured = 60 * record["duration"]["minutes"]
    assert measured / 1.5 < found.seconds < measured * 1.5
    assert found.without == (
        "features", "train", "collect", "tables", "figures", "claims", "report",
    )  # fmt: skip
    assert "made.json, which has no record of features, train, collect" in found.text()


def test_a_record_of_this_machine_comes_before_the_committed_one(demo, unbuilt, tmp_path):
    job = next(job for job in demo.jobs.values() if job.stage == "train")
    before = estimate(demo, state(demo, lambda other: other is not job), cores=2)
    job.provenance.parent.mkdir(parents=True)
    job.provenance.write_text(json.dumps({"wall_seconds": 600.0, "peak_memory_mb": 5000.0}))
    after = estimate(demo, state(demo, lambda other: other is not job), cores=2)
    assert after.seconds > 600 > before.seconds
    assert after.memory_mb == 5000


def test_seconds_are_said_as_people_do():
    assert [spoken(value) for value in (41.2, 84, 7600)] == [
        "41 seconds", "1.4 minutes", "2.1 hours",
    ]  # fmt: skip


def test_the_line_follows_what_snakemake_prints_and_trusts_the_pace_of_the_build():
    progress = Progress({"train": 2, "report": 1}, {"train": 40.0, "report": 20.0}, 90.0, began=0.0)
    assert progress.line(now=10.0) == "[" + " " * 20 + "] 0 of 3 jobs, 0:10, about 1.3 minutes left"
    for line in ("Job 7: train digits/er/dense: not built", " 45%|####5   | 9/20 [00:01<00:01]"):
        progress.read(line)
    assert progress.line(now=10.0).endswith("left: train digits/er/dense 45 %")
    for line in ("Finished jobid: 7 (Rule: train)", "1 of 3 steps (33%) done", "Select jobs"):
        progress.read(line)
    assert progress.fraction == 0.4
    assert progress.left(elapsed=60.0) == pytest.approx(90.0)  # at this pace 150 s in all
    assert "########            ] 1 of 3 jobs, 1:00, about 1.5 minutes left" in progress.line(60.0)


def test_what_is_no_job_is_not_counted():
    progress = Progress({"tables": 1, "report": 1}, {}, None, began=0.0)
    for number, rule in enumerate(("tables", "report", "all"), start=1):
        progress.read(f"Finished jobid: {3 - number} (Rule: {rule})")
        progress.read(f"{number} of 3 steps (33%) done")
    assert "2 of 2 jobs" in progress.line(now=5.0)
    assert progress.fraction == 1.0


def test_without_any_record_the_line_counts_jobs_and_says_nothing_of_time():
    progress = Progress({"train": 4}, {}, None, began=0.0)
    assert "left" not in progress.line(now=5.0)
    progress.read("Finished jobid: 1 (Rule: train)")
    assert progress.fraction == 0.25
    assert progress.left(elapsed=10.0) == pytest.approx(30.0)


def test_a_machine_slower_than_the_record_does_not_show_nearly_done():
    progress = Progress({"train": 20}, {"train": 4.0}, 80.0, began=0.0)
    progress.read("Finished jobid: 1 (Rule: train)")
    assert progress.left(elapsed=100.0) > 200.0  # a twentieth is done
