"""The paper's sentences as checks: right verdicts on worked cases, honest silence elsewhere."""

import json
from types import SimpleNamespace

import pytest
import yaml

import fake_results
import fake_runs
from sharc.errors import UserError
from sharc.results.claims import gains, kinds, memories, motivation
from sharc.results.claims.evidence import Evidence
from sharc.results.frames import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.stages import claims, collect


def spread(mean, seeds=5):
    """Gains by seed around a mean, small enough to decide its sign."""
    return {seed: mean + 0.01 * (seed - seeds // 2) for seed in range(seeds)}


class Worked:
    """Evidence with gains given by hand: {cell: gains by seed} per group."""

    def __init__(self, *groups, printed=()):
        self.groups, self.printed = iter(groups), list(printed)

    def gains(self, cells):
        return next(self.groups)

    def printed_gains(self, cells):
        return self.printed

    def name(self, place, variant=None):
        return str(place)


CELLS = {"cells": {"scenario": "task_il"}, "than": {"scenario": "task_il"}}


@pytest.fixture(scope="module")
def evidence():
    made = fake_results.demo()
    return Evidence(
        Results(made.results), Layout.of(made.layout), Paper(fake_results.PAPER),
        fake_results.figure1(made.root),
    )  # fmt: skip


@pytest.fixture(scope="module")
def found():
    content = json.loads((fake_results.whole().root / "claims.json").read_text())
    return {claim["id"]: claim for claim in content["claims"]}


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ({"a": spread(1), "b": spread(2), "c": spread(-1)}, "reproduced"),
        ({"a": spread(1), "b": spread(-2), "c": spread(-1)}, "not reproduced"),
        ({"a": spread(1), "b": {0: 3.0, 1: -2.0}, "c": spread(-1)}, "undecided"),
        ({}, "not tested by this suite"),
    ],
)
def test_most_cells_improve_only_if_more_than_half_are_decided_upwards(cells, verdict):
    ours, _ = gains.most_improve(Worked(cells), CELLS)
    assert ours.verdict == verdict


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ({"a": spread(1), "b": spread(2)}, "reproduced"),
        ({"a": spread(1), "b": spread(-2)}, "not reproduced"),
        ({"a": spread(1), "b": {0: 3.0, 1: -2.0}}, "undecided"),
    ],
)
def test_one_decided_loss_refutes_consistent_improvement(cells, verdict):
    assert gains.all_improve(Worked(cells), CELLS)[0].verdict == verdict


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [(spread(11), "reproduced"), (spread(3), "not reproduced"), ({0: 20, 1: -5}, "undecided")],
)
def test_a_gain_of_ten_points_needs_ten_points(gain, verdict):
    assert gains.gain_about(Worked({"a": gain}), CELLS | {"points": 10})[0].verdict == verdict


def test_a_larger_gain_is_paired_by_seed_and_not_by_place():
    one, other = {"a": {1: 2.0, 2: 3.0}}, {"b": {0: 90.0, 1: 1.0, 2: 2.0}}
    ours, _ = gains.larger_gain(Worked(one, other), CELLS)
    assert ours.verdict == "reproduced"
    assert ours.figures["difference_mean"] == 1.0


def test_figure_1_counts_only_hard_corruptions_of_stored_images():
    rows = [
        {"level": 0.9, "stored": True, "hopfield_mse": 0.1, "inpainter_mse": 0.2},
        {"level": 0.9, "stored": False, "hopfield_mse": 0.9, "inpainter_mse": 0.2},
        {"level": 0.2, "stored": True, "hopfield_mse": 0.9, "inpainter_mse": 0.2},
    ]
    assert motivation.hard_rows({"rows": rows}, 0.75) == [{"hopfield": 0.1, "inpainter": 0.2}]
    nothing, _ = motivation.figure1_recall(SimpleNamespace(figure1=None), {"level": 0.5})
    assert nothing.verdict == "not tested by this suite"


def test_the_best_theta_of_the_fakes_is_found_outside_the_papers_range(evidence):
    claim = {"cells": {"scenario": "class_il"}, "range": [0.3, 0.5]}
    ours, paper = memories.optimum_between(evidence, claim)
    assert set(ours.figures["best_theta"]) <= {0.7, 0.8}  # the fakes peak at 0.7
    assert ours.figures["difference_mean"] < 0
    assert paper is None


def test_every_entry_of_the_file_has_a_verdict_and_a_sentence(found):
    entries = yaml.safe_load(fake_results.CLAIMS.read_text())
    assert len(entries) >= 25
    assert list(found) == [entry["id"] for entry in entries]
    assert all(claim["text"] and claim["place"] for claim in found.values())


def test_a_claim_on_data_the_suite_lacks_is_not_tested_but_the_paper_still_is(found):
    claim = found["clser-cifar10"]
    assert claim["verdict"] == "not tested by this suite"
    assert claim["paper"]["verdict"] == "supports"
    assert claim["paper"]["figures"]["points"] == pytest.approx(10.42)


def test_a_verdict_from_foreign_data_says_so(found):
    assert "S-Digits, which the paper does not use" in found["class-il-most"]["text"]


def test_the_papers_own_numbers_are_held_to_the_same_sentences(found):
    counts = {name: found[name]["paper"]["figures"] for name in ("task-il-most", "class-il-most")}
    assert (counts["task-il-most"]["positive"], counts["task-il-most"]["cells"]) == (53, 54)
    assert (counts["class-il-most"]["positive"], counts["class-il-most"]["cells"]) == (44, 54)
    assert found["consistent-class-il"]["paper"]["verdict"] == "does not support"
    assert found["joint-bound-task-il"]["paper"]["verdict"] == "does not support"
    assert found["replay-against-sgd"]["paper"]["figures"]["positive"] == 0
    assert found["bwt-rises"]["paper"]["figures"]["cells"] == 36  # the third column once


def test_bytes_in_all_count_the_associative_memory(found):
    assert found["memory-saved"]["verdict"] == "reproduced"
    assert found["memory-saved-in-all"]["verdict"] == "not reproduced"


def test_a_planned_cell_without_runs_is_counted_in_the_sentence(tmp_path):
    grid = fake_runs.Grid(methods=("er", "mer"), buffers=(50,), seeds=3, memories=(), thetas=())
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    left = [path for path in paths if "/mer/dense/" not in str(path)]
    collect.build(left, expected, tmp_path / "results", joint_bwt="not_applicable")
    layout = Layout.of(fake_runs.LAYOUT | {"main": [50], "methods": ["er", "mer"]})
    evidence = Evidence(Results(tmp_path / "results"), layout, Paper(fake_results.PAPER), None)
    claim = {"id": "a", "place": "p", "says": "s", "kind": "most_improve"}
    found = kinds.evaluate(evidence, claim | {"cells": {"scenario": "class_il"}})
    assert found["figures"]["cells"] == 1
    assert "Planned but without runs that ended well: 1." in found["text"]


def test_the_markdown_has_a_row_per_claim_and_a_count(found):
    text = (fake_results.whole().root / "claims.md").read_text()
    assert text.count("\n| ") == len(found) + 1
    assert f"{len(found)} sentences:" in text


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"id": "a", "place": "p", "says": "s", "kind": "most_improves"}, "'most_improve'"),
        ({"id": "a", "place": "p", "kind": "held"}, "lacks says"),
    ],
)
def test_a_bad_entry_is_refused_with_what_is_legal(tmp_path, entry, said):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([entry]))
    with pytest.raises(UserError, match=said):
        kinds.read(path)


def test_an_id_used_twice_is_refused(tmp_path):
    path = tmp_path / "claims.yaml"
    entry = {"id": "a", "place": "p", "says": "s", "kind": "held"}
    path.write_text(yaml.safe_dump([entry, entry]))
    with pytest.raises(UserError, match="used twice"):
        kinds.read(path)


def test_the_same_results_give_the_same_bytes(tmp_path):
    made = fake_results.whole()
    claims.build(
        made.results, fake_results.CLAIMS, fake_results.PAPER, fake_results.figure1(made.root),
        tmp_path / "claims.json", tmp_path / "claims.md", layout=made.layout,
    )  # fmt: skip
    for name in ("claims.json", "claims.md"):
        assert (tmp_path / name).read_bytes() == (made.root / name).read_bytes()
