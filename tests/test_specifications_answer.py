"""The answer in three sentences: data decide its words, and each outcome reads as English."""

import pandas as pd
import pytest

from sharc.specifications import answer
from sharc.specifications.arms import CONTRASTS
from sharc.specifications.curve import curve
from sharc.specifications.effects import between
from sharc.specifications.factors import Factor, Specification
from sharc.specifications.outcomes import Outcome, Questions, outcomes

FACTORS = [
    Factor("data set", "dataset", ("cifar10", "cifar100")),
    Factor("class order", "data.class_order", tuple(range(12))),
    Factor("fill", "sharc.memory", ("bayes_pcn", "none")),
]
UP, DOWN = dict.fromkeys(range(5), 2.0), dict.fromkeys(range(5), -1.0)
OPEN = dict(enumerate([3.0, -3.0, 3.0, -3.0, 0.1]))
SPECS = [
    Specification({"data set": dataset, "class order": order, "fill": "bayes_pcn"})
    for dataset in ("cifar10", "cifar100")
    for order in range(6)
]
QUESTIONS = Questions(FACTORS, SPECS, {spec.id for spec in SPECS}, {}, [])


def outcome(contrast, scenario, gains):
    found = list(zip(SPECS, gains, strict=True))
    by_id = {spec.id: gain for spec, gain in found}
    return Outcome(contrast, scenario, by_id, curve(found), curve(found))


def asked(class_il, task_il, contrast="saliency"):
    """Twelve specifications each, by number of ups, downs and open ones."""
    pairs = zip(answer.ORDER, (class_il, task_il), strict=True)
    return [
        outcome(contrast, scenario, [UP] * up + [DOWN] * down + [OPEN] * (12 - up - down))
        for scenario, (up, down) in pairs
    ]


YES, NO, UNSURE = (7, 5), (2, 9), (6, 0)


@pytest.mark.parametrize(
    ("saliency", "recall", "words"),
    [
        ((YES, YES), (YES, YES), "both saliency and associative recall contribute to the gains"),
        ((NO, NO), (NO, NO), "neither saliency nor associative recall contributes to the gains"),
        (
            (UNSURE, NO), (UNSURE, UNSURE),
            "we could not show that saliency or associative recall contributes to the gains",
        ),
        (
            (YES, NO), (YES, UNSURE),
            "both saliency and associative recall contribute to the gains, but we could show it in "
            "Class-IL only",
        ),
        (
            (NO, NO), (YES, YES),
            "saliency does not contribute to the gains; associative recall does",
        ),
        (
            (UNSURE, NO), (YES, UNSURE),
            "we could not show that saliency contributes to the gains; associative recall does, "
            "but we could show it in Class-IL only",
        ),
        (
            (UNSURE, YES), (NO, UNSURE),
            "saliency contributes to the gains, but we could show it in Task-IL only; for "
            "associative recall we could not show it",
        ),
    ],
)  # fmt: skip
def test_whether_the_ideas_contribute(saliency, recall, words):
    ideas = {"saliency": asked(*saliency), "associative recall": asked(*recall, "recall")}
    assert answer.reasons(ideas) == words


def found(gains):
    """The same gains in both scenarios, and controls that leave all open."""
    by_contrast = dict.fromkeys(CONTRASTS, [OPEN] * 12) | {"gain": gains}
    return {
        (contrast, scenario): outcome(contrast, scenario, by_contrast[contrast])
        for contrast in CONTRASTS
        for scenario in answer.ORDER
    }  # fmt: skip


def effects(p, factor="data set", value="cifar100"):
    where = {"contrast": "gain", "scenario": "class_il", "factor": factor, "value": value}
    return pd.DataFrame([where | {"effect": 2, "p_holm": p}])


MOSTLY_ON_CIFAR_100 = [UP, DOWN, DOWN, OPEN, OPEN, OPEN, UP, UP, UP, UP, OPEN, OPEN]


def test_the_choice_that_matters_most_is_named_with_its_best_and_its_worst_value():
    helps, hurts, why = answer.sentences(QUESTIONS, found(MOSTLY_ON_CIFAR_100), effects(0.01))
    assert helps == (
        "SHARC helps in 5 of 12 specifications in Class-IL and 5 of 12 in Task-IL (median change "
        "+0.0 and +0.0 points), most often with data set S-CIFAR-100 (Class-IL: 4 of 6, median "
        "+2.0)."
    )
    assert hurts == (
        "It hurts in 2 of them in Class-IL and 2 in Task-IL, and the others are undecided; it "
        "helps least often with data set S-CIFAR-10 (Class-IL: 1 of 6, median +0.0)."
    )
    assert why == (
        "Salient channels beat random ones in 0 of 12 in Class-IL and 0 of 12 in Task-IL, and "
        "associative recall beats zeros in 0 of 12 in Class-IL and 0 of 12 in Task-IL. We could "
        "not show that saliency or associative recall contributes to the gains."
    )


def test_a_clearer_effect_of_a_value_that_too_few_specifications_make_is_passed_over():
    few = effects(0.001, "class order", "1")
    both = pd.concat([few, effects(0.01)])
    outcomes = found(MOSTLY_ON_CIFAR_100)
    assert answer.decisive(QUESTIONS, outcomes, few) == []
    named = answer.decisive(QUESTIONS, outcomes, both)
    assert [choice.value for choice in named] == ["cifar10", "cifar100"]


@pytest.mark.parametrize("table", [effects(0.06), effects(0.001, "fill"), pd.DataFrame()])
def test_no_choice_is_named_without_a_clear_effect_of_one_that_is_no_control(table):
    helps, hurts, _ = answer.sentences(QUESTIONS, found([UP] * 12), table)
    assert helps.endswith("(median change +2.0 and +2.0 points).")
    assert hurts == (
        "It hurts in none of them, and the others are undecided. We could not trace the difference "
        "to any single choice."
    )


def test_a_suite_that_asks_one_question_has_no_answer():
    some = found([UP] * 12)
    some["recall", "task_il"] = outcome("recall", "task_il", [{}] * 12)
    assert answer.sentences(QUESTIONS, some, effects(0.01)) == []


def test_only_the_random_sample_with_both_ideas_counts():
    zeros = SPECS[0].changed(fill="none")
    alone = SPECS[1]
    specs = [zeros, *SPECS]
    sample = {spec.id for spec in specs} - {alone.id}
    runs = {(spec.id, arm): f"{spec.id}-{arm}" for spec in specs for arm in ("sharc", "plain")}
    scores = {(run, scenario): UP for run in runs.values() for scenario in answer.ORDER}
    gain, *_ = outcomes(Questions(FACTORS, specs, sample, runs, []), scores)
    assert len(gain.curve.points) == 13
    counted = {point.specification.id for point in gain.kept.points}
    assert counted == {spec.id for spec in SPECS} - {alone.id}


def test_two_groups_of_values_are_compared_by_the_mean_of_their_effects():
    orders = {0: 1.0, 1: 2.0, 2: 4.0, 3: 9.0}
    specs = [spec for spec in SPECS if spec.choices["class order"] in orders]
    noise = dict(zip([s.id for s in specs], (0.01, -0.01, -0.01, 0.01) * 2, strict=True))
    gains = [
        orders[s.choices["class order"]] + 5 * (s.choices["data set"] == "cifar100") + noise[s.id]
        for s in specs
    ]
    gap, low, high = between(FACTORS, specs, gains, "data.class_order", ((0, 1), (2, 3)))
    assert gap == pytest.approx((1 + 2) / 2 - (4 + 9) / 2, abs=0.05)
    assert low < gap < high
    assert between(FACTORS, specs, gains, "data.class_order", ((0,), (11,))) is None
    assert between(FACTORS, specs, gains, "buffer", ((200,), (500,))) is None
