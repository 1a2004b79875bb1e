"""The benchmark's own arithmetic, and a guard: no ratio may fall to half of the committed one."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmark is no installed package

from bench.section import SIZES, Section, Table  # noqa: E402
from bench.streams import CIFAR10, CIFAR100, Shape, steps, synthetic  # noqa: E402
from bench.targets import TARGETS, Target, missed  # noqa: E402
from bench.timing import Measure, Spent, Times, exponent, interleaved, number, ratio  # noqa: E402


def test_a_ratio_is_the_median_over_rounds_of_the_ratio_within_a_round() -> None:
    slow, fast = Times([10, 40, 30], [1, 1, 1]), Times([1, 2, 5], [1, 1, 1])
    assert ratio(slow, fast) == Measure(10, 6, 20, 3)
    assert ratio(slow, fast, work=5).median == 50


def test_every_round_runs_every_way_once_and_the_first_round_is_not_counted() -> None:
    order: list[str] = []
    ways = {"a": lambda: order.append("a"), "b": lambda: Spent(2.0, 3.0)}
    times = interleaved(ways, rounds=2)
    assert order == ["a"] * 3
    assert times["b"] == Times([2.0, 2.0], [3.0, 3.0])
    assert len(times["a"].cpu) == 2


def test_the_exponent_of_a_quadratic_cost_is_two() -> None:
    assert exponent([1, 2, 4, 8], [3, 12, 48, 192]) == pytest.approx(2)


def test_a_run_of_split_cifar_has_five_thousand_steps() -> None:
    assert steps(CIFAR10, 1.0) == 5000
    assert steps(CIFAR100, 0.2) == 20 * 50


def test_synthetic_maps_average_to_the_pooled_features() -> None:
    stream = synthetic(Shape(features=16, side=3, train=100, test=50), maps=True)
    assert stream.maps is not None
    index = stream.train_tasks[1]
    pooled = stream.maps.rows(index).mean(dim=(1, 2))
    assert pooled.numpy() == pytest.approx(stream.x[index].numpy(), abs=1e-5)


def test_a_target_is_met_at_its_bound_and_a_ceiling_from_below() -> None:
    floor, ceiling = Target("", "a", 5), Target("", "b", 5, ceiling=True)
    assert floor.reached(5, Measure.of([5])) == "met"
    assert "not met" in floor.reached(5, Measure.of([4.9]))
    assert ceiling.reached(5, Measure.of([4.9])) == "met"
    assert "not met" in ceiling.reached(5, Measure.of([5.1]))


def test_only_measured_targets_can_be_missed() -> None:
    assert missed({}) == []
    assert missed({"er_vs_plain_10": Measure.of([14.9])}) == ["er_vs_plain_10"]
    assert len({target.measure for target in TARGETS}) == len(TARGETS)


def test_every_target_that_the_published_page_missed_says_where_the_time_goes() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("|") and "**not met**" in line]
    silent = [row for row in rows if not row.rstrip(" |").endswith(".")]
    assert rows and not silent, silent


def test_a_section_comes_back_from_its_file_as_it_was() -> None:
    table = Table("t", ["a"], note="n")
    table.add(1)
    section = Section("s", "S", [table], {"m": Measure.of([1, 2, 4])}, notes=["x"])
    assert Section.parse(json.loads(json.dumps(section.json()))) == section


def test_numbers_are_written_as_people_write_them() -> None:
    assert [number(x) for x in (0.123456, 12.34, 1234.5, 1e-5)] == [
        "0.123", "12.3", "1,234", "1.0e-05",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", ["training", "features", "recall"])
def test_no_ratio_fell_below_half_of_the_committed_one(part: str) -> None:
    import importlib

    expected = json.loads((ROOT / "bench/expected.json").read_text())
    measures = importlib.import_module(f"bench.{part}").run(SIZES["small"]).measures
    fallen = {
        name: (measures[name].median, value)
        for name, value in expected.items()
        if name in measures and measures[name].median < value / 2
    }
    assert not fallen, f"measured and committed: {fallen}"
