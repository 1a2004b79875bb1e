"""Files that say the same thing twice must say the same thing."""

import re
import tomllib
from pathlib import Path

import yaml

from sharc.config import load_params
from sharc.workflow import dvc_yaml
from sharc.workflow.families import FAMILIES, build_graph

ROOT = Path(__file__).parent.parent


def test_dvc_yaml_is_what_the_graph_says():
    assert dvc_yaml.in_step(), "write it anew with `sharc dvc-yaml`"


def test_every_source_of_every_rule_is_a_dependency_of_its_dvc_stage():
    for suite in ("demo", "ladder", "offline", "paper"):
        for unit in build_graph(load_params(suite=suite)).units.values():
            assert set(unit.sources) <= set(dvc_yaml.family_sources(unit.family)), unit.id


def test_every_input_of_every_rule_is_a_dependency_of_its_dvc_stage():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    graph = build_graph(load_params(suite="offline"))
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


def test_the_readme_shows_the_committed_results():
    shown = [line for line in (ROOT / "README.md").read_text().splitlines() if "-IL | " in line]
    committed = (ROOT / "results/cifar10/comparison.md").read_text().splitlines()
    rows = {
        tuple(_cells(line)[i] for i in (0, 3, 5, 8, 11, 12))
        for line in committed
        if "-IL |" in line
    }
    assert {tuple(_cells(line)[i] for i in (0, 1, 3, 5, 7, 8)) for line in shown} <= rows
    assert len(shown) == len(rows) == 16


def test_the_ladders_page_says_what_the_committed_results_say():
    page = (ROOT / "docs/ladder.md").read_text()
    found = (ROOT / "results/ladder/ladder.md").read_text().splitlines()
    said = [line for line in found if line.startswith("- ")]
    assert len(said) == 2
    assert all(line in page for line in said)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
