"""Factors, the design of specifications, and what is computed from their gains."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from sharc.errors import UserError
from sharc.specifications.alone import changes, crosschecked
from sharc.specifications.curve import curve
from sharc.specifications.design import design
from sharc.specifications.effects import between, interactions, main_effects
from sharc.specifications.factors import Factor, Specification, check_keys, settings
from sharc.specifications.power import detectable_gain, seeds_needed, verdicts

RATE = Factor("learning rate", "train.learning_rate", (0.1, 0.03))
MEMORY = Factor("fill", "sharc.memory", ("bayes_pcn", "none", "mean"))
VIEWS = Factor("views", "features.views", (0, 5))
FACTORS = [RATE, MEMORY, VIEWS]


def never(_specification):
    return None


def test_one_at_a_time_changes_one_choice_of_the_default():
    found = design(FACTORS, 4, 0, never).one_at_a_time
    assert [spec.differing(FACTORS) for spec in found] == (
        [[], ["learning rate"], ["fill"], ["fill"], ["views"]]
    )
    assert found[3].choices == {"learning rate": 0.1, "fill": "mean", "views": 0}


def test_the_sample_is_balanced_after_every_block():
    many = [*FACTORS, Factor("order", "data.class_order", tuple(range(40)))]  # no draw repeats
    sample = design(many, 12, 3, never).sample
    counts = {f.name: Counter(one.choices[f.name] for one in sample) for f in FACTORS}
    assert counts == {
        "learning rate": {0.1: 6, 0.03: 6},
        "fill": {"bayes_pcn": 4, "none": 4, "mean": 4},
        "views": {0: 6, 5: 6},
    }


def test_a_larger_sample_begins_with_the_smaller_one():
    small, large = (design(FACTORS, size, 7, never).sample for size in (4, 9))
    assert [spec.id for spec in large[:4]] == [spec.id for spec in small]
    other = design(FACTORS, 9, 8, never).sample
    assert [spec.id for spec in other] != [spec.id for spec in large]


def test_a_further_factor_leaves_the_draws_of_the_others_alone():
    wider = [*FACTORS, Factor("order", "data.class_order", ("ascending", 1))]
    few = design(FACTORS, 3, 0, never).sample
    more = design(wider, 3, 0, never).sample
    assert [{**spec.choices, "order": more[k].choices["order"]} for k, spec in enumerate(few)] == [
        dict(spec.choices) for spec in more
    ]


def test_no_specification_stands_twice_and_one_in_both_parts_counts_once():
    found = design(FACTORS, 12, 0, never)
    ids = [spec.id for spec in found.sample]
    assert len(set(ids)) == 12  # all there are: 2 x 3 x 2
    assert len(found.all) == 12


def test_illegal_combinations_are_listed_with_their_reason_and_replaced():
    def objection(spec):
        bad = spec.choices["fill"] == "mean" and spec.choices["views"] == 5
        return "class means have one view" if bad else None

    found = design(FACTORS, 10, 0, objection)
    assert len(found.sample) == 10  # 12 less the two that are not legal
    assert {(spec.choices["fill"], spec.choices["views"]) for spec, _ in found.illegal} == {
        ("mean", 5)
    }
    assert {reason for _, reason in found.illegal} == {"class means have one view"}


def test_a_sample_larger_than_the_product_is_refused_with_the_number_there_is():
    with pytest.raises(UserError, match=r"sample is 13, but of 260 draws only 12 gave a new legal"):
        design(FACTORS, 13, 0, never)


def test_an_illegal_default_is_a_mistake():
    with pytest.raises(UserError, match="the default combination is not legal: no such thing"):
        design(FACTORS, 2, 0, lambda spec: "no such thing")


def test_two_factors_over_one_key_are_refused_by_name():
    with pytest.raises(UserError, match=r"learning rate and pace both set train\.learning_rate"):
        check_keys([RATE, Factor("pace", "train.learning_rate", (1, 2))])


@pytest.mark.parametrize(
    ("values", "message"), [((0.1,), "has 1 value: a choice needs"), ((1, 1), "a value twice")]
)
def test_a_factor_is_a_choice_between_different_values(values, message):
    with pytest.raises(UserError, match=message):
        Factor("pace", "train.learning_rate", values)


def test_a_specification_sets_parameters_by_their_keys():
    spec = Specification({"learning rate": 0.03, "fill": "none", "views": 0})
    assert settings(spec, FACTORS) == {
        "train.learning_rate": 0.03, "sharc.memory": "none", "features.views": 0,
    }  # fmt: skip


def spec(rate=0.1, fill="bayes_pcn", views=0):
    return Specification({"learning rate": rate, "fill": fill, "views": views})


def test_the_curve_is_sorted_and_counts_what_is_missing():
    up = dict.fromkeys(range(5), 2.0)
    down = dict.fromkeys(range(5), -1.0)
    mixed = dict(enumerate([3.0, -3.0, 3.0, -3.0, 1.0]))
    found = curve(
        [(spec(), up), (spec(views=5), {}), (spec(0.03), down), (spec(0.03, "none"), mixed)]
    )
    assert [point.gain.mean for point in found.points] == [-1.0, pytest.approx(0.2), 2.0]
    assert found.directions == {"up": 1, "down": 1, "undecided": 1}
    assert found.median == pytest.approx(0.2)
    assert found.missing == [spec(views=5)]
    assert found.pooled.gain.mean == pytest.approx(0.4)  # the mean of 2, -1 and 0.2


def every(factors=FACTORS):
    return design(factors, int(np.prod([len(f.values) for f in factors])), 0, never).sample


def made_gains(found, noise=0.0):
    """2 points; -3 with zeros, +0.5 with means, -1 with views, and +4 more for both."""
    rng = np.random.default_rng(0)
    gains = []
    for one in found:
        zeros, views = one.choices["fill"] == "none", one.choices["views"] == 5
        gains.append(2 - 3 * zeros + 0.5 * (one.choices["fill"] == "mean") - views)
        gains[-1] += 4 * (zeros and views) + noise * rng.normal()
    return gains


def test_main_effects_are_those_the_gains_were_made_of():
    found = [one for one in every() if not (one.choices["fill"] == "none" and one.choices["views"])]
    table = main_effects(FACTORS, found, made_gains(found, 0.01)).set_index(["factor", "value"])
    assert table.loc[("fill", "none"), "effect"] == pytest.approx(-3, abs=0.05)
    assert table.loc[("fill", "mean"), "effect"] == pytest.approx(0.5, abs=0.05)
    assert table.loc[("views", "5"), "effect"] == pytest.approx(-1, abs=0.05)
    assert table.loc[("learning rate", "0.03"), "effect"] == pytest.approx(0, abs=0.05)
    assert table.loc[("fill", "none"), "high"] < 0
    assert table.loc[("fill", "none"), "n"] == 2
    row = table.loc[("learning rate", "0.03")]
    assert row["low"] < 0 < row["high"]
    assert (table["p_holm"] >= table["p"]).all()


def test_the_interaction_the_gains_were_made_of_comes_first():
    found = every()
    table = interactions(FACTORS, found, made_gains(found, 0.01))
    first = table.iloc[0]
    assert (first["first"], first["second"], first["at"]) == ("fill", "views", "none, 5")
    assert first["effect"] == pytest.approx(4, abs=0.1)
    assert first["low"] < 4 < first["high"]
    assert first["share"] > 0.99
    assert len(table) == 3


def test_what_always_comes_together_has_no_effect_of_its_own():
    together = [
        one for one in every() if (one.choices["fill"] == "none") == (one.choices["views"] == 5)
    ]
    gains = made_gains(together, 0.01)
    effects = main_effects(FACTORS, together, gains)
    assert list(zip(effects["factor"], effects["value"], strict=True)) == [
        ("learning rate", "0.03"), ("fill", "none"), ("fill", "mean"),
    ]  # fmt: skip
    pairs = interactions(FACTORS, together, gains)
    assert ("fill", "views") not in set(zip(pairs["first"], pairs["second"], strict=True))


def test_a_pair_that_one_specification_makes_has_an_effect_and_no_interval():
    found = [
        one
        for one in every()
        if one.choices["fill"] != "none" or not one.choices["views"]
        or one.choices["learning rate"] == 0.03
    ]  # fmt: skip
    table = interactions(FACTORS, found, made_gains(found, 0.01)).set_index(["first", "second"])
    alone = table.loc[("fill", "views")]
    assert alone["at"] == "none, 5"
    assert alone["effect"] == pytest.approx(4, abs=0.1)
    assert np.isnan(alone["low"])
    assert np.isnan(alone["high"])
    assert alone["p"] < 1e-6  # the F test has the scatter of the others


def test_effects_that_as_many_specifications_decide_have_no_interval_and_are_not_compared():
    factors = [Factor(name, name, (0, 1)) for name in "abcd"]
    # Three specifications for the three effects of a, b and c; d is varied in eight others.
    made = [(1, 1, 0, 0), (1, 0, 1, 0), (0, 1, 1, 0), *[(0, 0, 0, at % 2) for at in range(8)]]
    found = [Specification(dict(zip("abcd", choices, strict=True))) for choices in made]
    gains = [3.0, 4.0, 5.0, *[at % 2 + 0.1 * (at % 3) for at in range(8)]]
    table = main_effects(factors, found, gains)
    assert table["effect"].notna().all()
    assert table.loc[table["p_holm"].notna(), "factor"].tolist() == ["d"]
    assert table.loc[table["low"].notna() | table["high"].notna(), "factor"].tolist() == ["d"]
    assert between(factors, found, gains, "a", ((1,), (0,))) is None
    alone = table[["factor", "value"]].assign(seeds=5, alone=1.0, alone_low=0.9, alone_high=1.1)
    verdict = crosschecked(table, alone).set_index("factor")["verdict"]
    assert verdict.to_dict() == {**dict.fromkeys("abc", "not compared"), "d": "agree"}


def test_each_factor_alone_is_paired_by_seed_and_compared_with_the_fitted_effect():
    gains = {
        spec().id: dict(enumerate([1.0, 2, 3, 4, 5])),
        spec(fill="none").id: dict(enumerate([-2.0, -1, 0, 1, 2])),
        spec(views=5).id: dict(enumerate([6.0, 7, 8, 9, 10])),
    }
    alone = changes(FACTORS, spec(), gains).set_index(["factor", "value"])
    assert alone.loc[("fill", "none"), "alone"] == -3
    assert alone.loc[("fill", "none"), "alone_high"] == -3  # the seeds' own level cancels
    assert alone.loc[("learning rate", "0.03"), "seeds"] == 0
    found = every()
    both = crosschecked(main_effects(FACTORS, found, made_gains(found)), alone.reset_index())
    verdict = both.set_index(["factor", "value"])["verdict"]
    assert verdict[("views", "5")] == "differ"  # 5 alone, about 1/3 on average
    assert verdict[("fill", "none")] == "agree"  # -3 alone; over all choices -1, widely
    assert verdict[("learning rate", "0.03")] == "not compared"


def test_five_seeds_detect_1_7_standard_deviations():
    # Cohen's tables: paired t test, n = 5, alpha 5 % two-sided, power 80 %: d = 1.68
    assert detectable_gain(1.0, 5) == pytest.approx(1.68, abs=0.01)
    assert detectable_gain(0.5, 20) == pytest.approx(0.5 * 0.66, abs=0.005)


def test_seeds_needed_is_the_first_number_that_suffices():
    needed = seeds_needed(sd=1.0, gain=0.8)
    assert detectable_gain(1.0, needed) <= 0.8 < detectable_gain(1.0, needed - 1)
    assert seeds_needed(sd=1.0, gain=10) == 5
    assert seeds_needed(sd=1.0, gain=0.01) is None
    assert seeds_needed(sd=0.0, gain=0.0) is None
    assert seeds_needed(sd=0.0, gain=0.1) == 5


def test_what_can_be_detected_shrinks_with_every_seed():
    found = [detectable_gain(1.0, n) for n in range(5, 200)]
    assert all(more < fewer for fewer, more in pairwise(found))


def test_verdicts_move_as_seeds_are_added():
    gains = dict(enumerate([1.0, -0.5, 1, -0.5, 1, 0.9, 1.0, 1.1, 1.0, 0.9]))
    assert verdicts(gains, [5, 10, 20]) == {5: "undecided", 10: "up"}
