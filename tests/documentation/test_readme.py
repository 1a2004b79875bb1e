"""The README says what the committed results say, and its commands exist."""

import json
import re
import subprocess
import sys

import published
import pytest

from sharc.results import verdicts

README = published.page("README.md")
CELLS = [row for row in published.rows("comparison.csv") if row["plus_cell"]]


def test_its_answer_counts_the_gains_of_the_committed_results():
    found = published.verdicts()
    up, down, open_ = (
        sum(count for (_, verdict), count in found.items() if verdict == wanted)
        for wanted in (verdicts.IMPROVES, verdicts.WORSENS, verdicts.UNDECIDED)
    )
    assert (
        f"of {len(CELLS)} comparisons of a method with and without SHARC, {up} improve, {down}"
        f" worsen and {open_} are undecided"
    ) in README


def test_its_answer_names_the_largest_gain_and_the_losses_on_cifar_10():
    gains = [(float(row["our_plus_acc"]) - float(row["our_acc"]), row["scenario"]) for row in CELLS]
    assert max(gains)[1] == "class_il"
    assert f"up to {max(gains)[0]:.0f} points in Class-IL" in README
    here = [row for row in CELLS if row["dataset"] == "cifar10"]
    better = published.verdicts()["cifar10", verdicts.IMPROVES]
    assert f"All but {better} of the gains are on CIFAR-100 and mini-ImageNet" in README
    worse = published.verdicts()["cifar10", verdicts.WORSENS]
    assert f"{worse} of {len(here)} get worse" in README


def test_the_paper_reports_its_largest_gain_on_cifar_10():
    printed = [
        (float(row["paper_plus_acc"]) - float(row["paper_acc"]), row["dataset"])
        for row in CELLS
        if row["paper_acc"]
    ]
    assert max(printed)[1] == "cifar10"
    assert "on CIFAR-10, where the paper reports its largest" in README


def test_pooled_storage_gains_more_than_sharc_as_its_answer_says():
    for method in ("er", "gem"):  # those that the suite runs with pooled storage
        plus = published.acc(method, "class_il", "bayes_pcn-t0.5")
        assert published.acc(method, "class_il", "pooled-t0") > plus
    assert (
        "on CIFAR-100 a control that stores pooled vectors, and needs no associative memory, gains "
        "more in Class-IL for the same budget"
    ) in README


def test_it_counts_the_papers_sentences():
    assert f"a verdict on {published.claims().total()} sentences of the paper" in README


@pytest.mark.parametrize("suite", ["demo", "cifar10", "offline", "specifications"])
def test_it_says_how_long_the_committed_results_took(suite: str):
    minutes = published.made(suite)["duration"]["minutes"]
    text = (published.ROOT / "README.md").read_text()
    assert re.search(rf"^\| `{suite}` \|.* \| {minutes:.1f} minutes \|$", text, re.MULTILINE)


def test_it_says_how_many_specifications_were_built():
    index = json.loads((published.ROOT / "results/specifications/index.json").read_text())
    assert f"under {index['counts']['specifications']} combinations of choices" in README


def test_every_command_of_ours_that_it_names_exists():
    text = (published.ROOT / "README.md").read_text()
    named = set(re.findall(r"(?:^|`)sharc ([a-z-]+)", text, re.MULTILINE))
    shown = subprocess.run(
        [sys.executable, "-c", "from sharc.cli import main; main()", "--help"],
        capture_output=True, text=True, check=True, env={"COLUMNS": "200", "TERM": "dumb"},
    ).stdout  # fmt: skip
    known = set(re.findall(r"^\W*([a-z-]+) ", shown, re.MULTILINE))
    assert len(named) >= 4
    assert named <= known
