"""Files that say the same thing twice must say the same thing."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from sharc.figures import figure1, theta

ROOT = Path(__file__).parent.parent


def test_conda_installs_the_same_lock_for_the_same_pythons():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert "-r requirements.lock" in pip
    python = re.search(r'requires-python = "(.+)"', (ROOT / "pyproject.toml").read_text())
    assert python
    assert f"python{python[1]}" in environment["dependencies"]


def test_every_dependency_is_pinned_in_the_lock():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert extras["dev"][0] == "sharc[archive,s3,slurm]"  # what the tests use
    wanted = [*project["dependencies"], *extras["dev"][1:]]
    wanted += [one for extra in ("archive", "s3", "slurm") for one in extras[extra]]
    declared = [re.split(r"[\[<>=~]", requirement)[0] for requirement in wanted]
    lock = (ROOT / "requirements.lock").read_text().lower()
    pinned = set(re.findall(r"^([a-z0-9-]+)==", lock, flags=re.MULTILINE))
    assert {name.lower().replace(".", "-") for name in declared} <= pinned
    assert "torch==2.14.1" in lock
    assert "torchvision==0.29.1" in lock


def test_the_lock_for_cpus_is_the_whole_lock_without_what_only_a_gpu_needs():
    made = (ROOT / "Makefile").read_text()
    gpu_only = set(re.search(r"^GPU_ONLY := (.+)$", made, flags=re.MULTILINE)[1].split())
    whole, cpu = (
        dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / name).read_text(), flags=re.MULTILINE))
        for name in ("requirements.lock", "requirements-cpu.lock")
    )
    assert gpu_only <= set(whole)
    assert cpu == {name: version for name, version in whole.items() if name not in gpu_only}


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


def test_the_cost_in_the_docs_is_that_of_the_committed_results():
    made = json.loads((ROOT / "results/offline/made.json").read_text())
    hours = {stage["stage"]: stage["cpu_hours"] for stage in made["cost"]}
    took = made["duration"]
    text = " ".join((ROOT / "REPRODUCIBILITY.md").read_text().split())
    assert (
        f"took {sum(hours.values()):.1f} CPU hours and {took['minutes']:.0f} minutes on "
        f"{took['cores']} cores"
    ) in text
    assert f"training {hours['train']:.1f} CPU hours, features {hours['features']:.2f}" in text
    assert f"{took['percent_not_computing']:.1f} % of the two cores' time no job ran" in text
    largest = max(stage["peak_mb"] for stage in made["cost"])
    assert f"the largest process held {largest / 1000:.1f} GB" in text


@pytest.mark.parametrize("suite", ["demo", "offline"])
def test_the_benchmarks_say_how_long_the_committed_results_took(suite: str):
    took = json.loads((ROOT / f"results/{suite}/made.json").read_text())["duration"]
    page = (ROOT / "docs/benchmarks.md").read_text()
    assert (
        f"Suite {suite}, as results/{suite}/made.json says: {took['minutes']:.1f} minutes from its "
        f"first to its last job on {took['cores']} cores, of which "
        f"{took['percent_not_computing']:.1f} % was not computing"
    ) in page


def test_the_ladders_page_says_what_the_committed_results_say():
    page = (ROOT / "docs/ladder.md").read_text()
    found = (ROOT / "results/ladder/ladder.md").read_text().splitlines()
    said = [line for line in found if line.startswith("- ")]
    assert len(said) == 2
    assert all(line in page for line in said)
