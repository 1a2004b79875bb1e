"""Values chosen on held-out training images, never on test images."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.engine.runs import RunSpec
from sharc.errors import UserError
from sharc.metrics import acc
from sharc.registry import load
from sharc.trainer.selection import candidates, joined, train_selected
from sharc.trainer.train import train

ER = load("method", "er")
RUNS = [RunSpec(seed, 12) for seed in range(3)]


def stream_with_validation(share=0.25, noise=0.5):
    """The toy stream with random images of every task held out."""
    stream, source = toy_stream(noise=noise), torch.Generator().manual_seed(0)
    cut = [index[torch.randperm(len(index), generator=source)] for index in stream.train_tasks]
    held = [index[: int(share * len(index))].sort().values for index in cut]
    kept = [index[int(share * len(index)) :].sort().values for index in cut]
    return replace(stream, train_tasks=kept, validation_tasks=held)


def er_under(stream, runs, values):
    return train(stream, runs, ER, dict(values), DenseBuffer)


def derpp_under(stream, runs, values):
    return train(stream, runs, load("method", "derpp"), dict(values), DenseBuffer)


def chosen(stream, rates, runs=RUNS, under=er_under, scenario="class_il"):
    """What each run chose for one scenario."""
    among = candidates({"learning_rate": rates})
    return [found[scenario] for found in train_selected(stream, runs, among, under)]


def test_every_combination_is_a_candidate_the_first_values_first():
    assert candidates({"theta": [0.5, 0.8], "learning_rate": [0.1, 0.03]}) == [
        {"theta": 0.5, "learning_rate": 0.1},
        {"theta": 0.5, "learning_rate": 0.03},
        {"theta": 0.8, "learning_rate": 0.1},
        {"theta": 0.8, "learning_rate": 0.03},
    ]


def test_a_rate_that_learns_is_chosen_over_one_that_does_not():
    for choice in chosen(stream_with_validation(), [1e-9, 0.1]):
        assert choice.values == {"learning_rate": 0.1}
        slow, fast = choice.candidates
        assert slow["validation_acc"] < fast["validation_acc"]
        assert choice.recorded()["values"] == {"learning_rate": 0.1}


def test_the_chosen_run_is_the_run_under_fixed_values_bit_for_bit():
    stream = stream_with_validation()
    fixed = er_under(stream, RUNS, {"learning_rate": 0.1})
    for choice, expected in zip(chosen(stream, [1e-9, 0.1]), fixed, strict=True):
        found = choice.result
        np.testing.assert_array_equal(found.accuracy.class_il, expected.accuracy.class_il)
        assert found.ledger == expected.ledger


def test_test_images_have_no_say():
    stream = stream_with_validation()
    before = [choice.candidates for choice in chosen(stream, [0.1, 0.02])]
    spoiled = replace(stream, test_x=-stream.test_x, test_y=stream.test_y.flip(0))
    assert [choice.candidates for choice in chosen(spoiled, [0.1, 0.02])] == before


def test_no_run_trains_on_a_validation_image():
    stream = stream_with_validation()
    spoiled = stream.x.clone()
    spoiled[torch.cat(stream.validation_tasks)] *= -5
    same = er_under(replace(stream, x=spoiled), RUNS, {"learning_rate": 0.1})
    for one, other in zip(same, er_under(stream, RUNS, {"learning_rate": 0.1}), strict=True):
        np.testing.assert_array_equal(one.accuracy.class_il, other.accuracy.class_il)


def test_the_score_is_the_accuracy_on_the_validation_images():
    stream = stream_with_validation()
    choice, *_ = chosen(stream, [0.1, 0.02])
    direct = er_under(stream.on_validation(), RUNS[:1], {"learning_rate": 0.02})
    assert choice.candidates[1]["validation_acc"] == acc(direct[0].accuracy.class_il)


def test_a_further_seed_changes_no_earlier_choice():
    stream = stream_with_validation()
    alone = chosen(stream, [0.1, 0.02, 0.5], runs=RUNS[:1])
    together = chosen(stream, [0.1, 0.02, 0.5])
    assert together[0].candidates == alone[0].candidates
    assert together[0].values == alone[0].values


def test_of_equal_scores_the_first_is_chosen_and_a_diverged_one_never():
    stream = stream_with_validation()
    assert chosen(stream, [0.1, 0.1])[0].values == {"learning_rate": 0.1}
    choice = chosen(stream, [1e9, 0.01], under=derpp_under)[0]  # its loss is quadratic
    assert choice.candidates[0]["validation_acc"] is None
    assert choice.values == {"learning_rate": 0.01}
    assert choice.result.status == "ok"


def test_each_scenario_has_its_own_choice_and_the_result_takes_both():
    stream = stream_with_validation(noise=2.0)
    rates = candidates({"learning_rate": [0.5, 0.05, 0.005]})
    runs = [RunSpec(seed, 12) for seed in range(20)]
    found = train_selected(stream, runs, rates, er_under)
    apart = [of for of in found if of["task_il"].values != of["class_il"].values]
    assert apart, "no run of twenty chose differently: the test shows nothing"
    one = joined(apart[0])
    for scenario, choice in apart[0].items():
        expected = getattr(choice.result.accuracy, scenario)
        np.testing.assert_array_equal(getattr(one.accuracy, scenario), expected)
    assert one.ledger == {}
    assert apart[0]["task_il"].recorded()["ledger"]["items"] == 12
    same = next(of for of in found if of["task_il"].values == of["class_il"].values)
    assert joined(same) is same["task_il"].result


def test_where_every_candidate_diverged_the_run_says_so():
    choice = chosen(stream_with_validation(), [1e9, 1e10], under=derpp_under)[0]
    assert choice.result.status == "diverged"
    assert choice.values == {"learning_rate": 1e9}


def test_without_validation_images_the_message_names_the_key():
    with pytest.raises(UserError, match=r"no validation images .* data\.validation_share above 0"):
        chosen(toy_stream(), [0.1, 0.02])


def test_drifting_features_have_none_for_validation_images():
    stream = replace(stream_with_validation(), drifting=object())
    with pytest.raises(UserError, match="Set bn_mode to eval, or choose nothing"):
        stream.on_validation()


def test_a_list_without_values_is_refused():
    with pytest.raises(UserError, match=r"select\.theta lists no value"):
        candidates({"theta": [], "learning_rate": [0.1]})
