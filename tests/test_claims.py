"""The paper's sentences as checks: right verdicts on worked cases, honest silence elsewhere."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

import fake_results
import fake_runs
from sharc.claims import curves, figure1, footprint, gains, memories, registry
from sharc.claims.evidence import Entry, Evidence
from sharc.errors import UserError
from sharc.results import rival_errors
from sharc.results.equal_bytes import equal_base
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.results.verdicts import NOT_TESTED
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

    def name(self, entry, variant=None):
        return str(entry)


CLAIM = {"id": "a", "section": "p", "says": "s", "kind": "most_improve"}
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
        ({"a": spread(1), "b": {0: 3.0, 1: -2.0}, "c": spread(-90)}, "undecided"),
        ({"a": spread(1), "b": {0: 1.0, 1: -2.0}, "c": {0: 1.0, 1: -2.0}}, "undecided"),
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
    [
        (spread(11), "reproduced"),
        (spread(3), "not reproduced"),
        (dict.fromkeys(range(4), 3.0), "undecided"),  # four seeds decide nothing
        ({0: 20, 1: -5}, "undecided"),
        (dict(enumerate([6, 14, 9, 9, 9])), "undecided"),  # 9.4: its interval reaches ten alone
    ],
)
def test_a_gain_of_ten_points_needs_ten_points(gain, verdict):
    assert gains.gain_about(Worked({"a": gain}), CELLS | {"points": 10})[0].verdict == verdict


def entry(method="er", dataset="cifar10", buffer=200):
    return Entry("task_il", dataset, method, buffer)


TWO = {entry("er"): spread(6.9), entry("clser"): spread(1)}


@pytest.mark.parametrize(
    ("take", "verdict", "said"),
    [
        ("mean", "not reproduced", "+3.95 points"),
        ("each", "not reproduced", "CLS-ER on S-CIFAR-10 +1.00 points"),
        ("largest", "reproduced", "Ours: ER on S-CIFAR-10 +6.90 points"),
    ],
)
def test_a_sentence_says_which_gain_must_reach_its_figure(take, verdict, said):
    claim = CELLS | {"points": 7, "tolerance": 0.5, "take": take}
    printed = [SimpleNamespace(mean=6.79), SimpleNamespace(mean=1.5)]
    ours, paper = gains.gain_about(Worked(TWO, printed=printed), claim)
    assert ours.verdict == verdict
    assert said in ours.text
    assert (paper.verdict == "supports") == (take == "largest")


def test_a_word_that_no_check_knows_is_refused_with_what_is_legal():
    with pytest.raises(UserError, match=r"claim a: unknown take 'larges'.*largest"):
        gains.gain_about(Worked(TWO), CELLS | {"id": "a", "points": 1, "take": "larges"})
    with pytest.raises(UserError, match=r"claim a: unknown count 'bytes'.*total_bytes"):
        footprint.held(Worked(), CELLS | {"id": "a", "count": "bytes"})


def test_each_data_set_method_and_buffer_must_gain_in_all_settings():
    cells = {
        entry("er"): spread(1), entry("gem"): spread(-1),
        entry("er", "cifar100"): spread(3), entry("gem", "cifar100"): spread(0.5),
    }  # fmt: skip
    ours, _ = gains.every_group_gains(Worked(cells), CELLS)
    means = {"S-CIFAR-10": 0, "S-CIFAR-100": 1.75, "GEM": -0.25, "ER": 2, "buffer 200": 0.875}
    assert ours.figures == pytest.approx(means)
    assert ours.verdict == "not reproduced"  # GEM loses
    assert ours.text.startswith("3 of 5")


def test_a_larger_gain_is_paired_by_seed_and_not_by_place():
    one, other = ({name: {s: s + more for s in range(1, 6)}} for name, more in (("a", 2), ("b", 1)))
    other["b"][0] = 90.0
    ours, _ = gains.larger_gain(Worked(one, other), CELLS)
    assert ours.verdict == "reproduced"
    assert ours.figures["difference_mean"] == 1.0


def test_figure_1_counts_only_hard_corruptions_and_tells_stored_images_from_others():
    rows = [
        {"level": level, "stored": stored, "hopfield": {"mse": one}, "inpainter": {"mse": 0.2}}
        for level, stored, one in ((0.9, True, 0.1), (0.9, False, 0.8), (0.2, True, 0.7))
    ]
    for stored, error in ((True, 0.1), (False, 0.8)):
        found = rival_errors.hard_errors(rows, 0.75, stored=stored)
        assert found == {"hopfield": [error], "inpainter": [0.2]}
    nothing, _ = figure1.figure1_recall(SimpleNamespace(figure1=None), {"level": 0.5})
    assert nothing.verdict == "not tested by this suite"


def test_the_best_theta_of_the_fakes_is_found_outside_the_papers_range(evidence):
    claim = {"cells": {"scenario": "class_il"}, "range": [0.3, 0.5]}
    ours, paper = memories.optimum_between(evidence, claim)
    assert set(ours.figures["best_theta"]) <= {0.7, 0.8}  # the fakes peak at 0.7
    assert ours.figures["difference_mean"] < 0
    assert paper is None


@pytest.mark.parametrize(
    ("seeds", "share", "verdict"),
    [(5, 0.01, "reproduced"), (5, 0.2, "not reproduced"), (4, 0.01, "undecided"),
     (4, 0.2, "undecided")],
)  # fmt: skip
def test_recall_is_near_perfect_only_if_five_seeds_put_its_error_below_the_share(
    seeds, share, verdict
):
    frame = pd.DataFrame(
        {"memory": "bayes_pcn", "theta": 0.8, "zero_fill_mse": 1.0, "mse": share, "age": 0,
         "seed": range(seeds)}
    )  # fmt: skip
    evidence = SimpleNamespace(
        results=SimpleNamespace(recall=frame),
        layout=SimpleNamespace(memory="bayes_pcn", theta={"task_il": 0.8}),
    )
    ours, _ = memories.recall_near_perfect(evidence, {"share": 0.05})
    assert ours.verdict == verdict


class Swept:
    """Evidence of one method whose ACC at theta is given by hand, per scenario and seed."""

    layout = SimpleNamespace(memory="bayes_pcn")

    def __init__(self, **by_scenario):
        self.by_scenario = by_scenario
        thetas = [theta for scores in by_scenario.values() for theta in scores]
        self.results = SimpleNamespace(
            summary=pd.DataFrame({"memory": "bayes_pcn", "theta": sorted(set(thetas))})
        )

    def entries(self, cells):
        return [Entry(cells["scenario"], "cifar100", "er", 200)]

    def seeds(self, entry, variant):
        score = self.by_scenario[entry.scenario].get(float(variant.split("-t")[1]))
        return {} if score is None else spread(score)

    def name(self, entry, variant=None):
        return variant


def test_a_best_theta_at_the_end_of_the_sweep_leaves_the_optimum_open():
    claim = {"cells": {"scenario": "task_il"}, "range": [0.8, 0.9]}
    to_the_edge = Swept(task_il={0.2: 1.0, 0.4: 2.0, 0.8: 3.0, 0.9: 4.0})
    ours, _ = memories.optimum_between(to_the_edge, claim)
    assert ours.verdict == "undecided"
    assert ours.text.endswith("The sweep ends at 0.9: the optimum may lie beyond.")
    whole, _ = memories.optimum_between(
        Swept(task_il={0.2: 1.0, 0.4: 2.0, 0.9: 4.0, 1.0: 0.0}), claim
    )
    assert whole.verdict == "reproduced"
    assert "The sweep ends" not in whole.text


def test_the_best_thetas_of_two_scenarios_are_compared_seed_by_seed():
    high, low = {0.2: 1.0, 0.4: 2.0, 0.8: 3.0, 0.9: 4.0}, {0.2: 4.0, 0.4: 3.0, 0.8: 2.0, 0.9: 1.0}
    claim = {"cells": {"scenario": "task_il"}, "than": {"scenario": "class_il"}}
    ours, _ = memories.optimum_higher(Swept(task_il=high, class_il=low), claim)
    assert (ours.verdict, ours.figures["difference_mean"]) == ("reproduced", pytest.approx(0.7))
    other_way, _ = memories.optimum_higher(Swept(task_il=low, class_il=high), claim)
    assert other_way.verdict == "not reproduced"


def test_other_memories_are_listed_next_to_the_recall_of_the_tables_own(found):
    text = found["near-perfect-recall"]["text"]
    assert "BayesPCN leaves 16.0 %" in text
    assert "Other memories, where they ran: modern Hopfield 4.0 %" in text


def test_every_entry_of_the_file_has_a_verdict_and_a_sentence(found):
    entries = yaml.safe_load(fake_results.CLAIMS.read_text())
    assert len(entries) >= 25
    assert list(found) == [entry["id"] for entry in entries]
    assert all(claim["text"] and claim["section"] for claim in found.values())


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


def test_bytes_per_sample_count_the_associative_memory(found):
    """A base sample is 100,353 bytes; with SHARC 250 share 30.7 MB and 1,000 share 45.9 MB."""
    assert found["memory-saved"]["verdict"] == "reproduced"
    in_bytes = found["memory-saved-in-bytes-task-il"]
    assert in_bytes["verdict"] == "undecided"
    assert "0.46 to 1.23, median" in in_bytes["text"]
    assert "In total, at the same budget: 2.29 to 6.13." in in_bytes["text"]
    assert in_bytes["figures"]["less"] == 6


def test_for_equal_bytes_a_base_with_a_larger_buffer_stands_against_sharc(tmp_path):
    """SHARC at 50 holds 30.7 MB, as much as whole maps at 306; at 200 no base comes near."""
    grid = fake_runs.Grid(
        methods=("er", "gem"), buffers=(50, 200, 306), seeds=5, memories=(), thetas=()
    )
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    collect.build(paths, expected, tmp_path / "results", joint_bwt="not_applicable")
    shape = fake_runs.LAYOUT | {"main": [50, 200, 306], "methods": ["er", "gem"]}
    results, layout = Results(tmp_path / "results"), Layout.of(shape)
    evidence = Evidence(results, layout, Paper(fake_results.PAPER), None)
    claim = {"cells": {"scenario": "class_il"}}
    ours, _ = footprint.more_for_its_bytes(evidence, claim)
    entry = ("digits", "efficientnet_lite0", "er")
    plus = results.seeds("acc", *entry, "bayes_pcn-t0.5", 50, "class_il")
    base = results.seeds("acc", *entry, "dense", 306, "class_il")
    assert ours.figures["cells"] == 2
    found = equal_base(results, layout, "class_il", "digits", "er", 50)
    assert found.buffer == 306
    assert found.gain == pytest.approx({seed: plus[seed] - base[seed] for seed in range(5)})
    assert equal_base(results, layout, "class_il", "digits", "er", 200) is None


def test_a_gain_that_grows_from_task_to_task_has_a_positive_slope():
    tasks, rows = range(1, 6), []
    for variant, slope in (("dense", 0.0), ("bayes_pcn-t0.8", 0.5)):
        rows += [
            {"dataset": "digits", "backbone": "b", "method": "er", "variant": variant, "buffer": 50,
             "seed": seed, "scenario": "task_il", "task": task, "accuracy": 90 + slope * task}
            for seed in range(5) for task in tasks
        ]  # fmt: skip
    shape = fake_runs.LAYOUT | {"main": [50], "methods": ["er"], "backbone": "b"}
    results = SimpleNamespace(curves=pd.DataFrame(rows))
    evidence = Evidence(results, Layout.of(shape), Paper(fake_results.PAPER), None)
    ours, _ = curves.gain_trend(evidence, {"cells": {"scenario": "task_il"}})
    assert ours.verdict == "reproduced"
    assert ours.figures["growth_mean"] == pytest.approx(0.5)


def test_claims_on_plain_methods_lead_to_the_cells_of_plain_methods(found):
    cells = found["replay-against-sgd"]["cells"]
    assert cells
    assert all("/dense/" in name for name in cells)
    assert not any("/dense/" in name for name in found["task-il-most"]["cells"])


def test_the_papers_numbers_are_all_counted_whatever_methods_a_suite_has(evidence):
    small = Layout.of(fake_runs.LAYOUT | {"methods": ["er", "gem"], "main": [50]})
    few = Evidence(evidence.results, small, evidence.paper, None)
    assert len(few.printed_gains({"scenario": "task_il"})) == 54
    assert len(few.printed_gains({"scenario": "task_il", "methods": ["er"]})) == 9


def test_every_claim_tells_how_it_is_decided(found):
    text = (fake_results.whole().root / "claims.md").read_text()
    rules = {claim["rule"] for claim in found.values()}
    assert all(f"- {rule}\n" in text for rule in rules)
    assert all("reproduced" in rule and "undecided" in rule for rule in rules)


def test_a_planned_cell_without_runs_is_counted_in_the_sentence(tmp_path):
    grid = fake_runs.Grid(methods=("er", "mer"), buffers=(50,), seeds=3, memories=(), thetas=())
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    left = [path for path in paths if "/mer/dense/" not in str(path)]
    collect.build(left, expected, tmp_path / "results", joint_bwt="not_applicable")
    layout = Layout.of(fake_runs.LAYOUT | {"main": [50], "methods": ["er", "mer"]})
    evidence = Evidence(Results(tmp_path / "results"), layout, Paper(fake_results.PAPER), None)
    found = registry.evaluate(evidence, CLAIM | {"cells": {"scenario": "class_il"}})
    assert found["figures"]["cells"] == 1
    assert "Planned cells without successful runs: 1." in found["text"]


def test_the_markdown_has_a_row_per_claim_and_a_count(found):
    text = (fake_results.whole().root / "claims.md").read_text()
    assert text.count("\n| ") == len(found) + 1
    assert f"{len(found)} sentences:" in text


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"id": "a", "section": "p", "says": "s", "kind": "most_improves"}, "'most_improve'"),
        ({"id": "a", "section": "p", "kind": "held"}, "lacks says"),
        (CLAIM | {"kind": "held", "cells": {"scenario": "task_il"}}, "a: kind held needs count"),
        (CLAIM | {"cells": {"scenario": "task_il", "buffer": [200]}}, "Did you mean 'buffers'"),
        (CLAIM | {"cells": {"buffers": [200]}}, "lacks its scenario"),
    ],
)
def test_a_bad_entry_is_refused_with_what_is_legal(tmp_path, entry, said):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump([entry]))
    with pytest.raises(UserError, match=said):
        registry.read(path)


def test_an_empty_file_of_claims_is_refused(tmp_path):
    path = tmp_path / "claims.yaml"
    path.write_text("")
    with pytest.raises(UserError, match="must be a list of claims"):
        registry.read(path)


def test_an_id_used_twice_is_refused(tmp_path):
    path = tmp_path / "claims.yaml"
    entry = CLAIM | {"cells": {"scenario": "task_il"}}
    path.write_text(yaml.safe_dump([entry, entry]))
    with pytest.raises(UserError, match="used twice"):
        registry.read(path)


def test_the_same_results_give_the_same_bytes(tmp_path):
    made = fake_results.whole()
    claims.build(
        made.results, fake_results.CLAIMS, fake_results.PAPER, fake_results.figure1(made.root),
        tmp_path / "claims.json", tmp_path / "claims.md", layout=made.layout,
    )  # fmt: skip
    for name in ("claims.json", "claims.md"):
        assert (tmp_path / name).read_bytes() == (made.root / name).read_bytes()


FEW = fake_runs.Grid(
    datasets=("cifar10",), buffers=(200,), seeds=2, figure_methods=(), methods=("sgd", "er")
)


def verdicts(grid, root, **changes):
    layout = fake_runs.LAYOUT | {
        "main": list(grid.buffers), "datasets": list(grid.datasets), "methods": list(grid.methods),
    } | changes  # fmt: skip
    made = fake_results.collected(grid, layout, root)
    claims.build(
        made.results, fake_results.CLAIMS, fake_results.PAPER, None, root / "claims.json",
        root / "claims.md", layout=layout,
    )  # fmt: skip
    return (root / "claims.json").read_bytes()


def test_what_a_user_adds_never_enters_a_verdict(tmp_path):
    added = {"datasets": ("cifar10", "digits"), "methods": (*FEW.methods, "masked_er", "smooth")}
    more = replace(FEW, **added, buffers=(200, 100))
    alone = verdicts(FEW, tmp_path / "alone")
    assert verdicts(more, tmp_path / "more") == alone
    assert {claim["verdict"] for claim in json.loads(alone)["claims"]} > {NOT_TESTED}


def test_a_suite_on_a_users_data_alone_tests_no_claim(tmp_path):
    found = json.loads(verdicts(FEW, tmp_path, datasets=["birds"]))["claims"]
    assert {claim["verdict"] for claim in found} == {NOT_TESTED}
