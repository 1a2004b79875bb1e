"""The benchmark's own arithmetic, and a guard: no ratio may fall to half of the committed one."""

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmark is no installed package

from bench.page import fallen, write  # noqa: E402
from bench.section import SIZES, Section  # noqa: E402
from bench.streams import CIFAR10, CIFAR100, Shape, steps, synthetic  # noqa: E402
from bench.targets import TARGETS, Target  # noqa: E402
from bench.timing import Measure, exponent, interleaved, number, ratio  # noqa: E402


def test_a_ratio_is_the_median_over_rounds_of_the_ratio_within_a_round() -> None:
    slow, fast = [10.0, 40.0, 30.0], [1.0, 2.0, 5.0]
    assert ratio(slow, fast) == Measure(10, 6, 20, 3)
    assert ratio(slow, fast, work=5).median == 50


def test_every_round_runs_every_way_once_and_the_first_round_is_not_counted() -> None:
    order: list[str] = []
    ways = {"a": lambda: order.append("a"), "b": lambda: 2.0}
    times = interleaved(ways, rounds=2)
    assert order == ["a"] * 3
    assert times["b"] == [2.0, 2.0]
    assert len(times["a"]) == 2


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


def test_a_floor_is_met_at_its_bound_and_a_ceiling_below_it_and_a_miss_says_why() -> None:
    floor = Target("f", "a", 5, "so it is")
    ceiling = Target("c", "b", 5, unit="min", ceiling=True)
    assert floor.row(Measure.of(5)) == ["f", "5 ×", "≥ 5 ×", "met", ""]
    missed = floor.row(Measure.of(4.9), "all of it products")
    assert missed[3:] == ["**missed**", "all of it products; so it is"]
    assert ceiling.row(Measure.of(4.9)) == ["c", "4.9 min", "≤ 5 min", "met", ""]
    assert ceiling.row(Measure.of(5.1))[3] == "**missed**"
    assert floor.row(None)[1:4] == ["not measured", "≥ 5 ×", ""]
    assert Target("s", "m", unit="s").row(Measure.of(2)) == ["s", "2 s", "", "", ""]


def rows_of(page: str) -> list[list[str]]:
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_published_page_is_one_run_that_says_of_every_target_met_or_why_not() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text()
    rows = {row[0]: row for row in rows_of(page)}
    for target in TARGETS:
        _, measured, _, verdict, why = rows[target.what]
        assert measured != "not measured", target.what
        assert verdict in (("",) if target.bound is None else ("met", "**missed**")), target.what
        assert (verdict == "**missed**") == bool(why), target.what
    commits = {part.split()[0] for part in page.split(" at commit ")[1:]}
    assert len(commits) == 1, commits
    assert (ROOT / "docs/benchmarks/ratios.png").is_file()


def test_a_page_is_the_machine_two_tables_one_picture_and_its_parts(tmp_path) -> None:
    about = dict.fromkeys(("processor", "versions", "date", "commit", "load", "seconds"), "x")
    section = Section({"er_vs_plain": Measure.of(13, 14, 15)}, {"er_vs_plain": "90 % products"})
    section.about = about
    page = write({"training": section}, tmp_path).read_text()
    er = next(row for row in rows_of(page) if row[0].startswith("ER, 10 replayed, 5 seeds × 3"))
    assert er[1:4] == ["14 (13–15) ×", "≥ 25 ×", "**missed**"]
    assert er[4].startswith("90 % products; ")
    assert [path.name for path in (tmp_path / "benchmarks").iterdir()] == ["ratios.png"]
    assert "- **training**: Measured x at commit x" in page


def test_the_guard_notices_less_than_half_a_doubled_cost_and_what_is_gone() -> None:
    expected = {"er_vs_plain": 10.0, "sharc_cost_er_bayes_pcn_256_1": 4.0}

    def lost(ratio: float, cost: float) -> list[str]:
        found = zip(expected, (Measure.of(ratio), Measure.of(cost)), strict=True)
        return sorted(fallen(dict(found), expected))

    assert lost(5.0, 8.0) == []
    assert lost(4.9, 8.0) == ["er_vs_plain"]
    assert lost(5.0, 8.1) == ["sharc_cost_er_bayes_pcn_256_1"]
    assert sorted(fallen({}, expected)) == sorted(expected)


def test_a_section_comes_back_from_its_file_as_it_was() -> None:
    section = Section({"m": Measure.of(1, 2, 4)}, {"m": "why"}, ["x"], {"date": "today"})
    assert Section.parse(json.loads(json.dumps(section.json()))) == section


def test_numbers_are_written_as_people_write_them() -> None:
    assert [number(x) for x in (0.123456, 12.34, 1234.5, 1e-5)] == [
        "0.123", "12.3", "1,234", "1.0e-05",
    ]  # fmt: skip


GUARDED = json.loads((ROOT / "bench/expected.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("part", GUARDED)
def test_no_ratio_fell_below_half_of_the_committed_one(part: str) -> None:
    measures = importlib.import_module(f"bench.{part}").run(SIZES["small"]).measures
    assert not fallen(measures, GUARDED[part])
