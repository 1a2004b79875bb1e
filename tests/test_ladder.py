"""The ladder: worked effects, honest gaps, one figure, one table, a section of the report."""

import csv
import re

import pytest

import fake_ladder
from fake_ladder import FIVE, SMALL, frame_of, worked
from sharc.artifacts.files import read_json, write_json
from sharc.errors import UserError
from sharc.figures import ladder as plot
from sharc.figures import style
from sharc.results.ladder import decided
from sharc.results.ladder_plan import LadderPlan
from sharc.tables.ladder import markdown


def row_of(frame, rung, variant, scenario="class_il"):
    found = frame[
        (frame["rung"] == rung) & (frame["variant"] == variant) & (frame["scenario"] == scenario)
    ]
    assert len(found) == 1
    return found.iloc[0]


@pytest.fixture(scope="module")
def made():
    return fake_ladder.built()


def test_an_effect_is_the_mean_of_the_differences_of_equal_seeds(tmp_path):
    row = row_of(frame_of(worked(tmp_path)), 1, "dense")
    assert (row["n"], row["n_missing"], row["effect_n"]) == (3, 0, 3)
    assert row["acc_mean"] == pytest.approx(55.0)
    assert row["acc_sd"] == pytest.approx(5.0)
    assert row["effect_mean"] == pytest.approx(30.0)
    assert 29.0 <= row["effect_low"] < 30.0 < row["effect_high"] <= 31.0


def test_the_reference_has_no_effect_and_an_effect_of_both_signs_is_not_decided(tmp_path):
    frame = frame_of(worked(tmp_path))
    first, last = row_of(frame, 0, "dense"), row_of(frame, 2, "bayes_pcn-t0.8")
    assert first[["effect_mean", "effect_low", "effect_high"]].isna().all()
    assert last["effect_mean"] == pytest.approx(0.0)
    assert last["effect_low"] < 0 < last["effect_high"]


def test_a_cell_that_does_not_read_a_switch_repeats_its_runs_and_says_so(tmp_path):
    frame = frame_of(worked(tmp_path))
    row = row_of(frame, 2, "dense")
    assert row["reused"]
    assert not row_of(frame, 1, "dense")["reused"]
    assert row["acc_mean"] == pytest.approx(55.0)
    assert (row["effect_mean"], row["effect_low"], row["effect_high"]) == (0, 0, 0)
    table = markdown(frame, LadderPlan.of(SMALL))
    line = next(line for line in table.splitlines() if "`saliency: relu_ge → abs_gt`" in line)
    assert "| = 55.00 |" in line
    assert "(now the preset paper)" in line


def test_three_seeds_decide_no_effect_however_large_it_is(tmp_path):
    paths, shape = worked(tmp_path), LadderPlan.of(SMALL)
    frame = frame_of(paths)
    assert row_of(frame, 1, "bayes_pcn-t0.8")["effect_low"] == 10  # for each of three seeds
    assert decided(frame) == [False] * len(frame)
    table = markdown(frame, shape)
    assert "With fewer than 5 seeds none of the" in table
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert not any(arrow in "".join(rows) for arrow in "↑↓")


def test_the_table_marks_decided_effects_and_starts_with_the_papers_values(tmp_path):
    frame = frame_of(worked(tmp_path, FIVE), FIVE)
    table = markdown(frame, LadderPlan.of(FIVE))
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    assert lines[1].startswith("| printed in the paper |")
    assert "29.35 ± 7.79" in lines[1]
    assert lines[2].startswith("| `reference` |")
    assert "55.00 ± 3.54 ↑" in lines[3]
    assert "40.00 ± 0.00 ↑" in lines[3]
    assert lines[4].rstrip(" |").endswith("40.00 ± 0.71")


@pytest.mark.parametrize("status", ["failed", "diverged"])
def test_a_run_that_failed_is_shown_as_missing_and_not_averaged(tmp_path, status):
    frame = frame_of(worked(tmp_path, status=status))
    row = row_of(frame, 1, "dense")
    assert (row["n"], row["n_missing"], row["effect_n"]) == (2, 1, 2)
    assert row["acc_mean"] == pytest.approx(52.5)  # of 50 and 55
    assert row["effect_mean"] == pytest.approx(30.5)  # of +30 and +31
    table = markdown(frame, LadderPlan.of(SMALL))
    assert re.search(r"52\.50 ± 3\.54 \(n=2\)", table)
    assert "never averaged in" in table


def test_a_cell_without_any_run_is_called_missing_in_table_and_figure(tmp_path):
    paths = [path for path in worked(tmp_path) if "rung01" not in str(path)]
    frame, shape = frame_of(paths), LadderPlan.of(SMALL)
    assert row_of(frame, 1, "dense")["n_missing"] == 3
    assert "| missing |" in markdown(frame, shape)
    with style.styled():
        drawn = plot.draw(frame, shape)
    said = [text.get_text() for text in drawn.figure.axes[1].texts]
    assert "ER missing" in said


def test_the_csv_has_the_papers_value_and_says_what_was_reused(made):
    with (made / "ladder.csv").open() as handle:
        lines = list(csv.DictReader(handle))
    assert len(lines) == 12 * 8 * 2
    line = next(line for line in lines if line["method"] == "gem" and line["rung"] == "1")
    assert (line["switch"], line["before"], line["after"]) == ("read", "joint_adam", "collapsed")
    assert (line["reused"], float(line["effect_mean"])) == ("true", 0.0)
    assert float(line["paper_acc"]) == 88.44  # the paper's GEM, Task-IL, CIFAR-10, buffer 200
    assert lines[0]["effect_mean"] == ""


def test_the_sentences_name_the_switch_that_moves_most(made):
    sentences = read_json(made / "index.json")["sentences"]
    assert [text.split(":")[0] for text in sentences] == ["Task-IL", "Class-IL"]
    for text in sentences:
        assert "The largest step is BatchNorm statistics" in text
        assert "of 60 effects" in text  # 8 cells read 4 switches, 4 cells the other 7


def test_the_caption_states_the_part_of_the_data():
    assert (
        "5000 training images and 500 test images of each data set" in LadderPlan.of(SMALL).setting
    )
    for whole in (None, {"train_images": None, "test_images": None}):
        assert "all images" in LadderPlan.of(SMALL | {"part": whole}).setting


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rung": None}, "which rung"),
        ({"rung": 7}, "not a run of this ladder"),
        ({"rung": 0}, "records of the same run"),
    ],
)
def test_a_record_that_does_not_belong_is_refused_by_name(tmp_path, change, said):
    paths = worked(tmp_path)
    path = next(path for path in paths if "rung01" in str(path))
    write_json(path, read_json(path) | change)
    with pytest.raises(UserError, match=said) as raised:
        frame_of(paths)
    assert "seed0.json" in str(raised.value)


def test_a_plan_with_a_hole_or_without_a_key_is_refused():
    with pytest.raises(UserError, match="rung 0 of cifar10/er/dense"):
        LadderPlan.of(SMALL | {"cells": SMALL["cells"][1:]})
    with pytest.raises(UserError, match="lacks seeds"):
        LadderPlan.of({key: value for key, value in SMALL.items() if key != "seeds"})
