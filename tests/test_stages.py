"""Stages as they are declared: what makes a job stale, and that the two short files agree."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from sharc.config import load_params
from sharc.entry import dvc
from sharc.pipeline import STAGES, build_graph, load_graph
from sharc.pipeline.streamed import Streamed
from sharc.registry import KINDS, module_of
from sharc.workflow import sources
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job

ROOT = Path(__file__).parents[1]
SUITES = list(yaml.safe_load((ROOT / "params.yaml").read_text())["suites"])
DVC = yaml.safe_load((ROOT / "dvc.yaml").read_text())
NO_ARTIFACT = sources.BY_VALUE | {
    "sharc.experiment": "trains from Python what the pipeline trains, and makes no artifact",
    "sharc.streams": "serves `sharc.experiment`",
    "sharc.experiment_figures": "draws for `sharc.experiment`",
    "sharc.project": "finds params.yaml for `sharc.experiment`",
    "sharc.__main__": "starts the command line",
    "sharc.compare": "looks at artifacts and makes none",
    "sharc.external": "serves `sharc import`, but for what `collect` imports of it",
    "sharc.testing": "for the tests of outside classes",
    "sharc.class_text": "reads for the registry and the closure of imports; both are in the key",
    "sharc.cli": "looks at artifacts and makes none",
    "sharc.archive": "packs artifacts and makes none",
    "sharc.artifacts.digests": "remembers digests; a wrong one would be noticed as damage",
    "sharc.artifacts.provenance": "says how something was made, not what",
    "sharc.artifacts.receipts": "says what was made from what; its layout is in no artifact",
    "sharc.backbones.outside": "any architecture of torchvision or timm; no suite names one",
    "sharc.datasets.image_folder": "for data sets that params.yaml adds; none is added",
    "sharc.datasets.image_parquet": "for data sets that params.yaml adds; none is added",
    "sharc.datasets.image_set": "for data sets that params.yaml adds; none is added",
    "sharc.specifications.design": "what it draws is in the settings of the jobs",
    "sharc.specifications.plan": "what it lays out is in the settings of the jobs",
    "sharc.strategies.loss_forms": "the methods as losses, which tests compare the others with",
    "sharc.textbook": "for readers and tests; the pipeline does not run it",
}


@cache
def graph(suite: str) -> Graph:
    return load_graph(suite)


def jobs() -> list[Job]:
    return [job for suite in SUITES for job in graph(suite).jobs.values()]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_module_makes_some_job_stale_or_is_listed_as_unable_to_change_an_artifact():
    used = {ROOT / name for job in jobs() for name in job.sources}
    registered = [module_of(kind, name) for kind, names in KINDS.items() for name in names]
    used |= set(sources.source_files(registered))
    unused = [p for p in sorted((ROOT / "src/sharc").rglob("*.py")) if p not in used]
    unlisted = [
        name
        for name in map(module_name, unused)
        if not any(name == known or name.startswith(f"{known}.") for known in NO_ARTIFACT)
    ]
    assert unlisted == []


@pytest.mark.parametrize(
    ("module", "stages"),
    [
        ("strategies/er.py", {"train"}),
        ("report/facts.py", {"report"}),
        ("stages/methods.py", {"train"}),
        ("pipeline/tables.py", {"tables"}),
        ("report/page.html.j2", {"report"}),
        ("registry.py", set()),
        ("config/model.py", set()),
        ("entry/job.py", set()),
    ],
)
def test_an_edit_makes_exactly_those_jobs_stale_that_use_the_module(
    monkeypatch: pytest.MonkeyPatch, module: str, stages: set[str]
):
    before = {job.id: graph("demo").key(job, {}) for job in graph("demo").jobs.values()}
    real = dvc.digest
    edited = f"src/sharc/{module}"
    monkeypatch.setattr(
        "sharc.workflow.graph.digest", lambda path: "x" if str(path) == edited else real(path)
    )
    fresh = build_graph(load_params(suite="demo"))
    stale = {job.stage for job in fresh.jobs.values() if fresh.key(job, {}) != before[job.id]}
    assert stale == stages


def test_another_class_under_the_same_name_makes_its_jobs_stale(monkeypatch: pytest.MonkeyPatch):
    er, sgd = (f"train:digits/efficientnet_lite0/{name}/dense" for name in ("er", "sgd"))
    before = {name: graph("demo").key(graph("demo").jobs[name], {}) for name in (er, sgd)}
    monkeypatch.setitem(KINDS["method"], "er", "sharc.strategies.mer:MER")
    fresh = build_graph(load_params(suite="demo"))
    assert fresh.key(fresh.jobs[er], {}) != before[er]
    assert fresh.key(fresh.jobs[sgd], {}) == before[sgd]


def test_a_method_depends_on_its_own_strategy_alone():
    job = graph("demo").jobs["train:digits/efficientnet_lite0/er/dense"]
    assert "src/sharc/strategies/er.py" in job.sources
    assert "src/sharc/strategies/mer.py" not in job.sources
    assert "src/sharc/memories/bayes_pcn.py" not in job.sources
    assert "src/sharc/buffers/sharc.py" not in job.sources


def test_code_that_a_stage_inherits_from_anothers_module_is_its_own():
    for job in graph("ladder").of(Streamed):
        assert {"src/sharc/pipeline/features.py", "src/sharc/backbones/made.py"} <= {*job.sources}


def test_a_memory_is_a_source_of_the_runs_that_use_it():
    job = graph("demo").jobs["train:digits/efficientnet_lite0/er/modern_hopfield"]
    assert "src/sharc/memories/modern_hopfield.py" in job.sources
    assert "src/sharc/memories/bayes_pcn.py" not in job.sources


def test_a_users_own_file_counts_with_what_it_imports_from_us_and_from_its_folder(tmp_path: Path):
    (tmp_path / "mine.py").write_text("import helper\nfrom sharc.strategies.er import ER\n")
    (tmp_path / "helper.py").write_text("import os\n")
    found = sources.source_files([str(tmp_path / "mine.py")])
    assert {tmp_path / "mine.py", tmp_path / "helper.py"} <= set(found)
    assert ROOT / "src/sharc/strategies/er.py" in found


def test_dvc_has_a_stage_for_each_rule_that_depends_on_parameters_code_and_inputs():
    assert list(DVC["stages"]) == [stage.stage for stage in STAGES]
    for stage in STAGES:
        entry = DVC["stages"][stage.stage]
        assert entry["cmd"] == f"python -m sharc.entry.dvc {stage.stage}"
        assert {"params.yaml", "src/sharc"} <= set(entry["deps"])
        if any(job.classes for job in jobs() if job.stage == stage.stage):
            assert "own" in entry["deps"], stage.stage  # a user's class may be among them
    for job in jobs():
        deps = [Path(dep) for dep in DVC["stages"][job.stage]["deps"]]
        read = [*job.reads, *(need.target for need in job.needs)]
        for path in map(Path, read):
            assert any(path.is_relative_to(dep) for dep in deps), (job.id, path)


def test_dvc_versions_everything_that_a_job_makes():
    for job in jobs():
        outs = [Path(out) for out in dvc.outs(job.stage)]
        for path in (*job.outputs, job.receipt, job.provenance):
            assert any(path.is_relative_to(out) for out in outs), (job.id, path)


def test_the_snakefile_has_a_rule_for_each_stage_that_makes_its_jobs_files():
    text = (ROOT / "Snakefile").read_text()
    rule = r"^use rule \w+ as (\w+) with:\n(    input:.*?)(?=^\S)"
    rules = dict(re.findall(rule, text, re.M | re.S))
    assert list(rules) == [stage.stage for stage in STAGES]
    for job in jobs():
        output = re.search(r'output:\n\s+(?:report\()?update\("([^"]+)"\)', rules[job.stage])
        assert output, job.stage
        pattern = re.sub(r"\\{\w+\\}", "([^/]+)", re.escape(output[1]))
        found = re.fullmatch(pattern, str(job.target))
        assert found, (job.id, output[1])
        assert "/".join(found.groups()) in {job.name, ""}, "wildcards name the job"


def test_both_short_files_are_short():
    for name, most in (("Snakefile", 200), ("dvc.yaml", 150)):
        assert len((ROOT / name).read_text().splitlines()) <= most, name


def test_a_build_is_planned_without_the_heavy_libraries():
    heavy = {"torch", "pandas", "scipy", "statsmodels", "matplotlib"}
    code = f"import sys, sharc.entry.snakefile; print({heavy!r} & sys.modules.keys())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
