"""The ladder's plan: one switch per rung, and no run made twice."""

import pytest

from sharc.config import load_params
from sharc.ladder import rungs
from sharc.options.methods import own_switches
from sharc.pipeline import build_graph
from sharc.pipeline.rungs import ladder_cells


@pytest.fixture(scope="module")
def params():
    return load_params(suite="ladder")


def test_each_rung_makes_one_more_switch_from_reference_to_paper(params):
    steps = rungs(params, params.chosen.ladder)
    protocols = [rung.params.switches.model_dump() for rung in steps]
    unread = {switch for m in ("mer", "clser") for switch in own_switches(m).values()}
    for before, after, rung in zip(protocols, protocols[1:], steps[1:], strict=False):
        changed = {name for name in before if before[name] != after[name]}
        assert changed == {rung.switch}
        assert (rung.before, rung.after) == (before[rung.switch], after[rung.switch])
    reference = params.protocols.reference.model_dump()
    assert {n for n in reference if protocols[0][n] != reference[n]} <= unread
    assert protocols[-1] == params.protocols.paper.model_dump()


def test_a_cell_that_does_not_read_a_switch_reuses_the_runs_above(params):
    found = {
        (c.cell.method, c.memory, c.rung): c.runs_from
        for c in ladder_cells(params, params.chosen.ladder, "cifar10")
    }
    names = [rung.switch for rung in rungs(params, params.chosen.ladder)]
    read, count = names.index("read"), names.index("budget_count")
    assert found["er", "dense", read] == 0
    assert found["er", "bayes_pcn", read] == read
    assert found["er", "dense", count] == count  # whole maps have zeros too
    last = len(names) - 1
    assert found["er", "dense", last] == names.index("buffer_rule")
    assert found["er", "bayes_pcn", last] == last


def test_the_ladder_needs_none_of_the_tables_features(params):
    graph = build_graph(params)
    needs = {need.stage for job in graph.in_stage("rungs") for need in job.needs}
    assert needs == {"split", "streamed"}
    looks = {job.name for job in graph.in_stage("streamed") if job.name.startswith("cifar10@")}
    assert looks == {
        f"cifar10@ladder/efficientnet_lite0@{look}"
        for look in ("train-dataset", "eval-dataset", "eval-own")
    }


def test_under_the_reference_protocol_a_suite_trains_on_its_own_stream():
    reference = load_params(suite="offline").model_copy(update={"protocol": "reference"})
    graph = build_graph(reference)
    assert graph.in_stage("features") == []
    job = graph.jobs["streamed:cifar10/efficientnet_lite0"]
    assert job.settings["passes"] == [1, 2, 3]  # SGD and JOINT, most methods, DER++
    assert job.settings["joint"] is True
    train = graph.jobs["train:cifar10/efficientnet_lite0/er/dense"]
    assert job in train.needs
    assert train.settings["options"]["sharc"] == {"budget_count": "nonzero"}
