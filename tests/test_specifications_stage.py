"""From records under every specification to curves, effects and sentences."""

import pandas as pd
import pytest

import fake_specifications
from fake_specifications import CLAIMS
from sharc.artifacts.files import read_json
from sharc.specifications import saved
from sharc.stages import specifications as stage


@pytest.fixture(scope="module")
def built():
    return fake_specifications.built()


def test_the_curve_holds_every_specification_that_can_be_asked(built):
    frame = pd.read_csv(built / "curve_gain_class_il.csv")
    assert len(frame) == 10  # 3 x 2 x 2 less the two set aside
    by_choice = frame.set_index(["fill", "views", "rate"])["gain"]
    assert by_choice["bayes_pcn", 0, 0.1] == pytest.approx(4.2)
    assert by_choice["none", 5, 0.03] == pytest.approx(-2.8)
    recall = pd.read_csv(built / "curve_recall_class_il.csv")
    assert "none" not in set(recall["fill"])
    assert recall["gain"].tolist() == pytest.approx([6.0] * len(recall))


def test_effects_are_what_the_runs_were_made_of_and_agree_with_one_at_a_time(built):
    frame = pd.read_csv(built / "effects.csv")
    mine = frame[(frame["contrast"] == "gain") & (frame["scenario"] == "class_il")]
    mine = mine.set_index(["factor", "value"])
    assert mine.loc[("fill", "none"), "effect"] == pytest.approx(-6, abs=1e-6)
    assert mine.loc[("views", "5"), "effect"] == pytest.approx(-1, abs=1e-6)
    assert mine.loc[("rate", "0.03"), "effect"] == pytest.approx(0, abs=1e-6)
    assert mine.loc[("fill", "none"), "alone"] == pytest.approx(-6)


def test_what_was_set_aside_is_listed(built):
    frame = pd.read_csv(built / "illegal.csv")
    assert set(frame["why"]) == {"costly"}
    assert set(frame["fill"]) == {"mean"}


def test_the_sentences_count_directions_and_name_the_choice_that_flips(built):
    index = read_json(built / "index.json")
    assert (
        "Class-IL: SHARC raises ACC in 6 of 10 specifications, lowers it in 4, and 0 do not"
        " decide; the median is +3.2 points. Of the 4 of the random sample that keep both of the"
        " paper's ideas, 4 are up and 0 down; median +3.7."
    ) in index["sentences"]
    flips = {text.partition(":")[0]: text for text in index["flips"]}
    assert flips["Class-IL, SHARC's gain"] == (
        "Class-IL, SHARC's gain: the default is up; alone, fill none (zeros) would make it down."
    )
    assert index["counts"] == {
        "specifications": 10, "sample": 10, "kept": 4, "kept_missing": 0, "illegal": 2, "runs": 36,
    }  # fmt: skip


def test_the_answer_is_of_the_specifications_with_both_ideas_and_its_parts_are_counted(built):
    # SHARC's gain is 4.2 points less 1 with views, in Class-IL; nothing changes in Task-IL. The
    # fourth recall is undecided because one of its five runs diverged.
    assert read_json(built / "index.json")["answer"] == [
        "SHARC helps in 4 of 4 specifications in Class-IL and 0 of 4 in Task-IL (median change "
        "+3.7 and +0.0 points).",
        "It hurts in none of them, and the others are undecided. We could not trace the difference "
        "to any single choice.",
        "Salient channels beat random ones in 4 of 4 in Class-IL and 0 of 4 in Task-IL, and "
        "associative recall beats zeros in 3 of 4 in Class-IL and 0 of 4 in Task-IL. Both saliency "
        "and associative recall contribute to the gains, but we could show it in Class-IL only.",
    ]


def test_each_sentence_of_the_paper_is_asked_where_it_applies(built):
    claims = {claim["id"]: claim for claim in read_json(built / "index.json")["claims"]}
    most = claims["class-il-most"]
    assert most["counts"] == {"reproduced": 4, "not reproduced": 0, "undecided": 0}
    assert most["text"] == (
        "Holds in 4 of 4 specifications, does not in 0, undecided in 0; median gain +3.7 points. "
        "The default: reproduced; alone, fill none (zeros) would make it not reproduced."
    )
    assert claims["clser-cifar10"]["counts"]["not reproduced"] == 4  # 10.42 points in Task-IL
    assert "derpp-cifar100" not in claims  # the suite is on CIFAR-10 alone
    assert "smaller-buffer" not in claims  # and has one buffer


def test_the_analysis_can_be_repeated_from_the_tables_alone(built, tmp_path):
    questions, measured = saved.read(built)
    for name in (saved.DESIGN, saved.RUNS, saved.ILLEGAL):
        (tmp_path / name).write_bytes((built / name).read_bytes())
    stage.analyse(questions, measured, CLAIMS, tmp_path)
    names = {path.name for path in built.iterdir()}
    assert names == {path.name for path in tmp_path.iterdir()}
    assert [n for n in names if (built / n).read_bytes() != (tmp_path / n).read_bytes()] == []


def test_one_seed_alone_gives_gains_without_an_interval(built, tmp_path):
    questions, _ = saved.read(built)
    runs = saved.read_runs(built)
    stage.analyse(questions, saved.measured(runs[runs["seed"] == 0]), CLAIMS, tmp_path)
    [gain] = [
        entry
        for entry in read_json(tmp_path / saved.INDEX)["pooled"]
        if (entry["contrast"], entry["scenario"]) == ("gain", "class_il")
    ]
    assert -2 < gain["gain"] < 4
    assert gain["low"] is gain["high"] is None


def test_a_diverged_run_is_no_number(built):
    frame = pd.read_csv(built / "power.csv")
    assert set(frame["n"]) == {4, 5}


def test_power_says_what_more_seeds_would_detect(built):
    frame = pd.read_csv(built / "power.csv")
    assert (frame["detects_20"] <= frame["detects_5"]).all()
    assert set(frame.loc[frame["n"] == 5, "verdict_5"]) <= {"up", "down", "undecided"}
    assert frame["verdict_10"].isna().all()
