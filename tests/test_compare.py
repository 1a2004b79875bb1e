"""Two sets of results: which cells moved, what is decided, and where results may lie."""

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import fake_results
from sharc.cli.compare import compare_results
from sharc.compare.cells import compare, ordered
from sharc.compare.figure import draw
from sharc.compare.places import results_of
from sharc.errors import UserError
from sharc.results.folder import Results
from sharc.results.summary import summarise


def moved(folder: Path, change) -> Results:
    """The demo's results with some runs' numbers changed."""
    runs = Results(fake_results.demo().results).runs.copy()
    change(runs)
    folder.mkdir(parents=True, exist_ok=True)
    runs.to_csv(folder / "runs.csv", index=False)
    summarise(runs).to_csv(folder / "summary.csv", index=False)
    return Results(folder)


def cell(frame: pd.DataFrame, **names) -> pd.Series:
    for name, value in names.items():
        frame = frame[frame[name] == value]
    (row,) = frame.to_dict("records")
    return row


ER = {"method": "er", "variant": "dense", "buffer": 50, "scenario": "task_il"}


def chosen(runs: pd.DataFrame) -> pd.Series:
    return pd.concat([runs[name] == value for name, value in ER.items()], axis=1).all(axis=1)


def test_the_same_results_are_unchanged(tmp_path):
    a = Results(fake_results.demo().results)
    frame = compare(a, moved(tmp_path / "b", lambda runs: None))
    assert len(frame) == len(a.summary)
    assert set(frame["acc_move"]) == {"unchanged"}
    assert ordered(frame).empty


def test_a_cell_that_rises_by_a_point_for_every_seed_is_found_and_decided(tmp_path):
    def change(runs):
        runs.loc[chosen(runs), "acc"] += 1.0

    frame = compare(Results(fake_results.demo().results), moved(tmp_path / "b", change))
    row = cell(frame, **ER)
    assert row["acc_change"] == pytest.approx(1.0)
    assert (row["acc_move"], row["bwt_move"], row["paired"]) == ("rises", "unchanged", True)
    assert len(ordered(frame)) == 1


def test_a_change_whose_interval_holds_zero_is_undecided(tmp_path):
    def change(runs):
        seeds = runs.loc[chosen(runs), "seed"]
        runs.loc[chosen(runs), "acc"] += seeds.map({0: 2.0, 1: -2.0, 2: 1.0, 3: -1.5, 4: 0.6})

    frame = compare(Results(fake_results.demo().results), moved(tmp_path / "b", change))
    row = cell(frame, **ER)
    assert row["acc_change"] == pytest.approx(0.02)
    assert row["acc_low"] < 0 < row["acc_high"]
    assert row["acc_move"] == "undecided"


def test_without_runs_by_seed_the_summaries_are_compared_unpaired(tmp_path):
    def change(runs):
        runs.loc[chosen(runs), "acc"] -= 60.0

    b = moved(tmp_path / "b", change)
    (tmp_path / "b" / "runs.csv").unlink()
    row = cell(compare(Results(fake_results.demo().results), b), **ER)
    assert row["acc_change"] == pytest.approx(-60.0)
    assert (row["acc_move"], row["paired"]) == ("falls", False)


def test_two_suites_without_a_common_cell_are_refused_with_what_differs(tmp_path):
    with pytest.raises(UserError) as error:
        compare(Results(fake_results.demo().results), Results(fake_results.small().results))
    assert "no cell in common" in str(error.value)
    assert "dataset is digits in A and cifar10, mini_imagenet in B" in str(error.value)


def test_text_csv_and_figure_say_the_same(tmp_path, capsys, monkeypatch):
    def change(runs):
        runs.loc[chosen(runs), "acc"] += 1.0

    moved(tmp_path / "b", change)
    a, b = str(fake_results.demo().results), str(tmp_path / "b")
    compare_results(a, b, "demo", tmp_path / "out", everything=False)
    text = capsys.readouterr().out
    assert "ACC: 1 rises, 0 falls, 0 undecided," in text
    assert "digits/er/dense/b50 task_il" in text
    assert "+1.00 [+1.00, +1.00]  rises" in text
    frame = pd.read_csv(tmp_path / "out" / "compare.csv")
    assert cell(frame, **ER)["acc_change"] == pytest.approx(1.0)
    drawing = draw(compare(Results(Path(a)), Results(Path(b))), ("a", "b"))
    names = [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()]
    assert names == ["digits/er/dense/b50 task_il"]
    assert (tmp_path / "out" / "compare.svg").is_file()


def test_nothing_moved_gives_the_csv_and_no_empty_figure(tmp_path, capsys):
    a = str(fake_results.demo().results)
    compare_results(a, a, "demo", tmp_path / "out", everything=True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["compare.csv"]
    assert "0 rises, 0 falls, 0 undecided" in capsys.readouterr().out


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A repository with an export under results/demo, committed and then changed."""
    moved(tmp_path / "results" / "demo", lambda runs: None)
    git(tmp_path, "init")
    git(tmp_path, "add", "results")
    git(tmp_path, "commit", "-m", "export")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_results_lie_in_a_folder_under_a_suites_name_or_in_a_commit(project):
    def change(runs):
        runs.loc[chosen(runs), "acc"] += 1.0

    moved(project / "results" / "demo", change)
    git(project, "update-ref", "refs/exps/ab/cdef/tried-apt", "HEAD")  # as `dvc exp run` does
    places = [("demo", 1), ("results/demo", 1), ("HEAD", 0), ("HEAD:results/demo/", 0)]
    for name, rises in [*places, ("tried-apt", 0)]:
        with results_of("HEAD", "demo") as a, results_of(name, "demo") as b:
            assert (compare(a, b)["acc_move"] == "rises").sum() == rises, name


@pytest.mark.parametrize("name", ["nothing", "HEAD:results/other", "--help", "HEAD~7"])
def test_a_name_without_results_is_refused_with_where_to_find_some(project, name):
    with pytest.raises(UserError) as error, results_of(name, "demo"):
        pass
    assert f"{name!r} holds no results" in str(error.value)
    assert "an export under results/ (demo)" in str(error.value)


@pytest.mark.slow
def test_what_dvc_versioned_at_a_commit_is_fetched_from_its_cache(project):
    built = project / "outputs" / "results"
    shutil.copytree(project / "results" / "demo", built)
    for words in (["init", "-q"], ["add", "-q", "outputs/results"]):
        subprocess.run(["dvc", *words], check=True, capture_output=True)
    git(project, "rm", "-r", "--cached", "results")
    git(project, "add", ".dvc", "outputs")
    git(project, "commit", "-m", "built")
    shutil.rmtree(built)
    with results_of("HEAD", "demo") as a, results_of("demo", "demo") as b:
        assert set(compare(a, b)["acc_move"]) == {"unchanged"}
