"""What a report says about the making of its suite."""

from typing import Any

import pytest

from sharc.config import load_params
from sharc.report import facts


def test_a_build_that_was_stopped_and_taken_up_again_lasted_as_long_as_both_parts() -> None:
    first = [(0.0, 30.0), (10.0, 10.0), (32.0, 8.0)]  # two seconds between jobs are its own
    assert facts.lasted([*first, (1000.0, 20.0)]) == 40 + 20


def test_time_in_which_no_job_runs_is_not_computing() -> None:
    """Of 2 cores for 120 s, one job uses both for 30 s, one a core for 90 s: 150 of 240 s."""
    made: list[dict[str, Any]] = [
        {"started": 0.0, "wall_seconds": 30.0, "threads": 8, "cores": 2},
        {"started": 30.0, "wall_seconds": 90.0, "threads": 1, "cores": 2},
    ]
    assert facts.duration(made) == {
        "minutes": 2.0, "cores": 2, "percent_not_computing": 37.5,
    }  # fmt: skip


def test_the_data_behind_a_number_are_given_by_size_and_digest_per_split() -> None:
    splits = {"train": {"items": 4, "per_class": [2, 2], "digest": "fe"}}
    meta = {"dataset": "toy", "classes": ["a", "b"], "side": 8, "mean": [0.5], "splits": splits}
    assert facts.data_facts(meta) == {
        "classes": 2, "side": 8, "train": {"images": 4, "digest": "fe"},
    }  # fmt: skip


def test_a_job_made_outside_a_repository_names_no_commit() -> None:
    assert facts.commit_of({"commit": "0123abc", "dirty": False}) == "0123abc"
    assert facts.commit_of({"commit": "0123abc", "dirty": True}) == (
        "0123abc with uncommitted changes"
    )
    assert facts.commit_of({"commit": None, "dirty": False}) == "no commit"


@pytest.mark.parametrize(
    ("suite", "topics"),
    [
        ("paper", []),
        ("demo", ["Backbone", "Normalisation", "Range of θ"]),
        ("offline", ["Backbone", "Normalisation", "Images of mini-ImageNet", "Range of θ"]),
    ],
)
def test_a_suite_tells_what_it_does_otherwise_than_the_paper(suite: str, topics: list[str]) -> None:
    assert [row["topic"] for row in facts.deviations(load_params(suite=suite))] == topics
