"""The benchmark's own arithmetic, and a guard: no ratio may fall to half of the committed one."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmark is no installed package

from bench import profiles  # noqa: E402
from bench.__main__ import PARTS  # noqa: E402
from bench.page import fallen  # noqa: E402
from bench.profiles import work_of  # noqa: E402
from bench.reasons import REASONS  # noqa: E402
from bench.section import SIZES, Section, Table  # noqa: E402
from bench.streams import CIFAR10, CIFAR100, Shape, steps, synthetic  # noqa: E402
from bench.targets import TARGETS, Target, missed  # noqa: E402
from bench.timing import Measure, Spent, Times, exponent, interleaved, number, ratio  # noqa: E402
from bench.work import WORK  # noqa: E402


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


def test_only_measured_targets_can_be_missed_and_an_aim_counts() -> None:
    assert missed({}) == []
    assert missed({"er_vs_plain_10": Measure.of([14.9])}) == ["er_vs_plain_10"]
    assert missed({"er_vs_plain_10": Measure.of([39.9])}) == ["er_vs_plain_10"]
    assert missed({"er_vs_plain_10": Measure.of([40])}) == []
    assert len({target.measure for target in TARGETS}) == len(TARGETS)


def test_the_published_page_has_every_target_and_a_profile_of_what_fell_short() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text()
    shown = page[page.index("### Targets") : page.index("## Feature extraction")]
    rows = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows[1:]] == [target.what for target in TARGETS]
    for row in rows[1:]:
        if "**not met**" in row:
            [profile] = re.findall(r"\(benchmarks/profiles/(\w+\.txt)\)", row[-1])
            assert " %" in (ROOT / "docs/benchmarks/profiles" / profile).read_text(), row
            assert re.match(r"[A-Z].*\. \[Profile\]", row[-1]), row
        if "not measured" in row:
            assert "GPU" in row[-1], row


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.measure)
def test_whatever_may_be_missed_has_its_words_and_its_work(target: Target) -> None:
    if target.measure in ("peak_mb_features", "bayes_pcn_error_share", "stacked_equals_lone"):
        return  # no time goes anywhere: a failure of these is one to mend
    if "saliency" in target.measure:
        return  # the row above it with more work on the other side
    assert target.measure in REASONS
    work = work_of(target.measure)
    if work is None:
        assert target.measure in ("demo_minutes", "stacked_close_on_cuda")
    elif not work.startswith("features"):
        assert work.split()[0] in WORK


def test_samples_count_for_our_own_line_though_torch_was_called() -> None:
    raw = (
        "a (x.py:1);measured (bench/work.py:9);f (sharc/errors.py:3);g (torch/y.py:5) 3\n"
        "a (x.py:1);measured (bench/work.py:9);f (sharc/errors.py:3) 1\n"
        "a (x.py:1);prepare (bench/work.py:4) 90\n"
    )
    title, leading, _, line, *_ = profiles.by_line("steps", raw).splitlines()
    assert title.startswith("steps: 4 samples")
    assert leading == "`f` 100 %"
    assert line == "100.0 %  sharc/errors.py:3 f"


def test_the_guard_notices_less_than_half_a_doubled_cost_and_what_is_gone() -> None:
    expected = {"er_vs_plain_10": 10.0, "sharc_cost_er_bayes_pcn_256_1": 4.0}

    def lost(ratio: float, cost: float) -> list[str]:
        found = zip(expected, (Measure.of([ratio]), Measure.of([cost])), strict=True)
        return sorted(fallen(dict(found), expected))

    assert lost(5.0, 8.0) == []
    assert lost(4.9, 8.0) == ["er_vs_plain_10"]
    assert lost(5.0, 8.1) == ["sharc_cost_er_bayes_pcn_256_1"]
    assert sorted(fallen({}, expected)) == sorted(expected)


def test_a_section_comes_back_from_its_file_as_it_was() -> None:
    table = Table("t", ["a"], note="n")
    table.add(1)
    section = Section("s", "S", [table], {"m": Measure.of([1, 2, 4])}, notes=["x"])
    assert Section.parse(json.loads(json.dumps(section.json()))) == section


def test_numbers_are_written_as_people_write_them() -> None:
    assert [number(x) for x in (0.123456, 12.34, 1234.5, 1e-5)] == [
        "0.123", "12.3", "1,234", "1.0e-05",
    ]  # fmt: skip


GUARDED = json.loads((ROOT / "bench/expected.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize("part", GUARDED)
def test_no_ratio_fell_below_half_of_the_committed_one(part: str) -> None:
    measures = importlib.import_module(PARTS[part]).run(SIZES["small"]).measures
    assert not fallen(measures, GUARDED[part])
