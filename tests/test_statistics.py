"""Statistics over seeds and over cells, with worked answers."""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from sharc.results.statistics import (
    Estimate,
    estimate,
    expanded_level,
    from_summary,
    mean_by_seed,
    paired,
    pooled,
)

SRC = Path(__file__).parents[1] / "src/sharc"


def test_mean_and_sd_of_five_values_are_the_textbook_ones():
    found = estimate([1, 2, 3, 4, 5])
    assert (found.n, found.mean) == (5, 3)
    assert found.sd == pytest.approx(math.sqrt(2.5))  # ddof 1
    assert 1 <= found.low < 3 < found.high <= 5


def test_nothing_has_no_mean_and_one_run_has_no_interval():
    assert estimate([]).n == 0
    assert math.isnan(estimate([]).mean)
    one = estimate([7.0])
    assert (one.n, one.mean) == (1, 7.0)
    assert math.isnan(one.sd)
    assert one.direction == "undecided"


def test_a_value_that_is_not_a_number_does_not_count():
    assert estimate([1.0, float("nan"), 3.0]).n == 2


def test_equal_values_have_an_interval_of_no_width():
    found = estimate([2.0] * 5)
    assert (found.low, found.high, found.sd) == (2.0, 2.0, 0.0)
    assert found.direction == "up"


def test_a_level_other_than_zero_is_excluded_by_the_same_rule():
    found = Estimate(5, 2.0, 1.0, 1.0, 3.0)
    assert [found.direction_from(level) for level in (0.5, 1.0, 2.0, 3.0, 3.5)] == [
        "up", "undecided", "undecided", "undecided", "down",
    ]  # fmt: skip
    assert Estimate(4, 2.0, 1.0, 1.0, 3.0).direction_from(0.5) == "undecided"


def test_the_same_values_give_the_same_interval():
    assert estimate([0.3, 0.1, 0.7]) == estimate([0.3, 0.1, 0.7])


def test_one_seed_against_four_of_its_size_leaves_a_gain_undecided():
    assert estimate([1.0, 1.2, 0.9, 1.1, -1.0]).direction == "undecided"
    assert estimate([1.0, 1.2, 0.9, 1.1, 0.8]).direction == "up"
    assert estimate([-1.0, -1.2, -0.9, -1.1, -0.8]).direction == "down"


def test_four_seeds_decide_nothing_though_they_agree():
    four, five = ([1.0, 1.1, 0.9, 1.0, 1.2][:n] for n in (4, 5))
    assert estimate(four).low > 0
    assert (estimate(four).direction, estimate(five).direction) == ("undecided", "up")


def test_an_interval_that_ends_at_zero_is_undecided_however_zero_was_added_up():
    assert Estimate(5, -0.4, 0.5, -1.1, -8e-15).direction == "undecided"
    assert Estimate(5, 0.4, 0.5, 0.1 + 0.2 - 0.3, 1.1).direction == "undecided"
    assert Estimate(5, 0.4, 0.5, 0.001, 1.1).direction == "up"


def test_the_level_is_wider_for_few_seeds_and_near_its_name_for_many():
    assert expanded_level(5) == pytest.approx(0.9981, abs=1e-4)
    assert expanded_level(10_000) == pytest.approx(0.95, abs=1e-3)


def test_the_interval_of_five_seeds_covers_the_mean_as_often_as_it_says():
    generator = np.random.default_rng(4)
    samples = [estimate(list(generator.normal(size=5))) for _ in range(150)]
    covered = np.mean([found.low <= 0 <= found.high for found in samples])
    assert 0.88 <= covered <= 0.99  # 93 % of 2,000; the plain percentile interval has 85 %


def test_pairs_are_made_of_the_seeds_both_sides_have():
    assert paired({0: 5.0, 1: 7.0, 3: 1.0}, {0: 4.0, 1: 5.0, 2: 9.0}) == [1.0, 2.0]


def test_pooled_counts_directions_and_averages_over_cells_per_seed():
    up = {seed: 1.0 + 0.1 * seed for seed in range(5)}
    down = dict.fromkeys(range(5), -1.0)
    unclear = {0: 1.0, 1: -1.0, 2: 0.5, 3: -0.4, 4: 0.1}
    found = pooled([up, down, unclear, {}])
    assert (found.cells, found.positive, found.improved, found.worsened) == (3, 2, 1, 1)
    assert found.gain.mean == pytest.approx((1.2 - 1.0 + 0.04) / 3)


def test_a_seed_that_one_cell_lacks_is_left_out_of_the_pool():
    assert mean_by_seed([{0: 1.0, 1: 3.0}, {1: 5.0}]) == {1: 4.0}
    assert mean_by_seed([]) == {}


def test_a_printed_difference_has_students_interval():
    found = from_summary(10.0, 5.0, 5)  # t(0.975, 8) = 2.306
    assert found.high - found.mean == pytest.approx(2.306 * 5 / math.sqrt(5), abs=1e-3)


@given(some.lists(some.floats(-100, 100), min_size=2, max_size=8))
def test_an_interval_holds_its_mean_and_stays_within_the_values(values):
    found = estimate(values)
    slack = 1e-9
    assert min(values) - slack <= found.low <= found.mean + slack
    assert found.mean - slack <= found.high <= max(values) + slack


def test_no_other_module_decides_by_the_ends_of_an_interval():
    found = set()
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                sides = map(ast.unparse, (node.left, *node.comparators))
                if any(re.search(r"\b\w*(low|high)\b['\"]?\]?$", side) for side in sides):
                    found.add(path.relative_to(SRC).as_posix())
    assert found == {
        "results/statistics.py",  # the rule
        "specifications/alone.py",  # whether two intervals overlap
        "compare/cells.py",  # whether nothing changed at all
        "specifications/power.py",  # a search between two numbers of seeds
        "external/table.py",  # the legal range of a share
    }
