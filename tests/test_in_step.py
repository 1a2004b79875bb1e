"""Files that say the same thing twice must say the same thing."""

import csv
import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

from sharc.config import load_params
from sharc.figures import figure1, theta
from sharc.results import labels, verdicts
from sharc.workflow import dvc_yaml
from sharc.workflow.families import FAMILIES, build_graph

ROOT = Path(__file__).parent.parent
SUITES = list(yaml.safe_load((ROOT / "params.yaml").read_text())["suites"])


def test_dvc_yaml_is_what_the_graph_says():
    assert dvc_yaml.in_step(), "write it anew with `sharc dvc-yaml`"


def test_every_source_of_every_rule_is_a_dependency_of_its_dvc_stage():
    for suite in SUITES:
        for unit in build_graph(load_params(suite=suite)).units.values():
            assert set(unit.sources) <= set(dvc_yaml.family_sources(unit.family)), unit.id


def test_every_input_of_every_rule_is_a_dependency_of_its_dvc_stage():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    for suite in SUITES:
        graph = build_graph(load_params(suite=suite))
        for unit in graph.units.values():
            for need in graph.needs(unit):
                outputs = [Path(out) for out in dvc_yaml.outs(need.family)]
                assert any(str(out) in stages[unit.family]["deps"] for out in outputs), unit.id


def test_there_is_one_dvc_stage_per_family_in_the_same_order():
    assert list(yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]) == list(FAMILIES)


def test_conda_installs_the_same_lock_for_the_same_pythons():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert "-r requirements.lock" in pip
    python = re.search(r'requires-python = "(.+)"', (ROOT / "pyproject.toml").read_text())
    assert python
    assert f"python{python[1]}" in environment["dependencies"]


def test_every_dependency_is_pinned_in_the_lock():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    declared = [re.split(r"[\[<>=~]", requirement)[0] for requirement in wanted]
    lock = (ROOT / "requirements.lock").read_text().lower()
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, flags=re.MULTILINE))
    assert {name.lower() for name in declared} <= pinned
    assert "torch==2.14.1" in lock
    assert "torchvision==0.29.1" in lock


def test_figure_1s_caption_counts_the_corruptions_that_its_claim_counts():
    claims = yaml.safe_load((ROOT / "data/paper/claims.yaml").read_text())
    [claim] = [claim for claim in claims if claim["id"] == "figure-1"]
    assert claim["level"] == figure1.HARD


def test_the_figure_of_theta_shades_the_ranges_that_its_claims_check():
    claims = yaml.safe_load((ROOT / "data/paper/claims.yaml").read_text())
    checked = {
        claim["cells"]["scenario"]: tuple(claim["range"])
        for claim in claims
        if claim["kind"] == "optimum_between"
    }
    assert checked == theta.OPTIMUM


def test_the_readme_shows_the_committed_results():
    readme = (ROOT / "README.md").read_text()
    assert readme_table() in readme, f"the table for README.md is\n{readme_table()}"
    summary = (ROOT / "results/offline/comparison.md").read_text().splitlines()[0]
    assert summary in " ".join(readme.split()), summary


def test_the_controls_that_the_readme_tells_of_are_those_of_the_committed_results():
    lines = (ROOT / "results/offline/summary.csv").read_text().splitlines()
    here = [row for row in csv.DictReader(lines) if row["dataset"] == "cifar100"]
    rows = {(r["method"], r["scenario"], r["variant"]): r for r in here if r["buffer"] == "200"}
    plain = {r["scenario"]: f"{float(r['acc_mean']):.1f}" for r in here if r["method"] == "sgd"}

    def acc(method: str, scenario: str, variant: str) -> str:
        return f"{float(rows[method, scenario, variant]['acc_mean']):.1f}"

    zeros, recalled = (acc("er", "task_il", f"{name}-t0.8") for name in ("none", "bayes_pcn"))
    pooled, plus = (
        [acc(method, "class_il", variant) for method in ("er", "gem")]
        for variant in ("pooled-t0", "bayes_pcn-t0.5")
    )
    held = [
        float(rows["er", "class_il", variant]["total_bytes"])
        for variant in ("bayes_pcn-t0.5", "pooled-t0")
    ]
    readme = " ".join((ROOT / "README.md").read_text().split())
    stable, sgd = acc("clser", "task_il", "dense"), plain["task_il"]
    for told in (
        f"below SGD in Task-IL on CIFAR-100 ({stable} against {sgd})",
        f"about as good for ER in Task-IL ({zeros} against {recalled})",
        f"reaches {pooled[0]} (ER) and {pooled[1]} (GEM) in Class-IL where SHARC reaches "
        f"{plus[0]} and {plus[1]} and holds {held[0] / held[1]:.1f} times the bytes",
    ):
        assert told in readme, told


def test_the_readme_counts_the_gains_and_claims_of_the_committed_results():
    lines = (ROOT / "results/offline/comparison.csv").read_text().splitlines()
    cells = [row for row in csv.DictReader(lines) if row["plus_cell"]]
    found = Counter((row["dataset"], row["verdict"]) for row in cells)
    up, down = found["cifar10", verdicts.IMPROVES], found["cifar10", verdicts.WORSENS]
    claims = json.loads((ROOT / "results/offline/claims.json").read_text())["claims"]
    held = Counter(claim["verdict"] for claim in claims)
    readme = " ".join((ROOT / "README.md").read_text().split())
    for told in (
        f"Of CIFAR-10's {sum(row['dataset'] == 'cifar10' for row in cells)} cells, improving: {up},"
        f" worsening: {down}.",
        f"checks {len(claims)} sentences of the paper: {held[verdicts.REPRODUCED]} reproduced, "
        f"{held[verdicts.NOT_REPRODUCED]} not, {held[verdicts.UNDECIDED]} undecided",
    ):
        assert told in readme, told


def readme_table() -> str:
    """ACC at buffer 200 without and with SHARC, the paper's beside ours, as committed."""
    lines = (ROOT / "results/offline/comparison.csv").read_text().splitlines()
    rows = [row for row in csv.DictReader(lines) if row["buffer"] in ("0", "200")]
    found = {(row["scenario"], row["method"], row["dataset"]): row for row in rows}
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    head = [f"{labels.dataset(name)}, {whose}" for name in datasets for whose in ("paper", "ours")]
    table = [["", "", *head], ["---"] * (2 + len(head))]
    for scenario, method in dict.fromkeys((row["scenario"], row["method"]) for row in rows):
        cells = [_pairs(found[scenario, method, dataset]) for dataset in datasets]
        said = [labels.scenario(scenario), labels.method(method)]
        table.append(said + [cell for pair in cells for cell in pair])
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def _pairs(row: dict[str, str]) -> tuple[str, str]:
    """`29.35 → 33.94` twice, ours with a mark where its interval excludes no change."""
    marks = {"improves": " ▲", "worsens": " ▼"}
    whose = (("paper_acc", "paper_plus_acc"), ("our_acc", "our_plus_acc"))
    paper, ours = (
        " → ".join(f"{float(row[name]):.2f}" for name in pair if row[name]) for pair in whose
    )
    return paper or "-", ours + marks.get(row["verdict"], "")


def test_the_cost_that_is_told_is_the_cost_of_the_committed_results():
    made = json.loads((ROOT / "results/offline/made.json").read_text())
    hours = {stage["stage"]: stage["cpu_hours"] for stage in made["cost"]}
    took = made["duration"]
    told = " ".join((ROOT / "REPRODUCIBILITY.md").read_text().split())
    assert (
        f"took {sum(hours.values()):.1f} CPU hours and {took['minutes']:.0f} minutes on "
        f"{took['cores']} cores"
    ) in told
    assert f"training {hours['train']:.1f} CPU hours, features {hours['features']:.2f}" in told
    assert f"{took['percent_not_computing']:.1f} % of the time of both cores" in told
    largest = max(stage["peak_mb"] for stage in made["cost"])
    assert f"the largest process held {largest / 1000:.1f} GB" in told


@pytest.mark.parametrize("suite", ["demo", "cifar10", "offline"])
def test_the_readme_says_how_long_the_committed_results_took(suite: str):
    minutes = json.loads((ROOT / f"results/{suite}/made.json").read_text())["duration"]["minutes"]
    readme = (ROOT / "README.md").read_text()
    assert re.search(rf"^\| `{suite}` \|.* \| {minutes:.1f} minutes \|$", readme, re.MULTILINE)


@pytest.mark.parametrize("suite", ["demo", "offline"])
def test_the_benchmarks_say_how_long_the_committed_results_took(suite: str):
    took = json.loads((ROOT / f"results/{suite}/made.json").read_text())["duration"]
    page = (ROOT / "docs/benchmarks.md").read_text()
    assert (
        f"Suite {suite}, as results/{suite}/made.json says: {took['minutes']:.1f} minutes from its "
        f"first to its last unit on {took['cores']} cores, of which "
        f"{took['percent_not_computing']:.1f} % was not computing"
    ) in page


def test_the_ladders_page_says_what_the_committed_results_say():
    page = (ROOT / "docs/ladder.md").read_text()
    found = (ROOT / "results/ladder/ladder.md").read_text().splitlines()
    said = [line for line in found if line.startswith("- ")]
    assert len(said) == 2
    assert all(line in page for line in said)
