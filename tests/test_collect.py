"""Collecting run records: nothing lost, nothing invented, nothing out of place."""

import json

import pandas as pd
import pytest

import fake_results
import fake_runs
from sharc.artifacts.files import write_json
from sharc.errors import UserError
from sharc.results.folder import Results
from sharc.results.summary import by_seed
from sharc.stages import collect

TINY = fake_runs.Grid(
    methods=("joint", "sgd", "er"), buffers=(50,), seeds=3, thetas=(), memories=(),
    figure_methods=(),
)  # fmt: skip
ER = {"dataset": "digits", "method": "er", "scenario": "task_il", "buffer": 50}


def row(frame, **fields):
    for name, value in fields.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def built(paths, expected, out, joint_bwt="not_applicable"):
    collect.build(paths, expected, out, joint_bwt=joint_bwt)
    return Results(out)


@pytest.fixture
def tiny(tmp_path):
    return fake_runs.write(tmp_path / "runs", TINY)


def edit(path, **changes):
    write_json(path, json.loads(path.read_text()) | changes)


def find(paths, *parts):
    return next(path for path in paths if all(part in str(path) for part in parts))


def test_acc_and_bwt_of_a_hand_worked_record(tiny, tmp_path):
    paths, expected = tiny
    matrix = [[90, None], [70, 80]]
    accuracy = {"class_il": matrix, "task_il": matrix}
    edit(find(paths, "/er/dense/", "seed0"), accuracy=accuracy, tasks=2)
    found = built(paths, expected, tmp_path / "out")
    run = row(found.runs, **ER, variant="dense", seed=0)
    assert (run["acc"], run["bwt"], run["forgetting"]) == (75, -20, 20)
    curve = found.curves[
        (found.curves["variant"] == "dense")
        & (found.curves["method"] == "er")
        & (found.curves["seed"] == 0)
        & (found.curves["scenario"] == "task_il")
    ]
    assert curve[["task", "accuracy"]].to_numpy().tolist() == [[1, 90], [2, 75]]


def test_a_missing_failed_or_diverged_run_is_counted_and_never_averaged(tiny, tmp_path):
    paths, expected = tiny
    whole = built(paths, expected, tmp_path / "whole")
    edit(find(paths, "/er/dense/", "seed0"), status="diverged", message="loss is not finite")
    gone = find(paths, "/er/dense/", "seed1")
    gone.unlink()
    found = built([p for p in paths if p != gone], expected, tmp_path / "out")
    cell = row(found.summary, **ER, variant="dense")
    assert (cell["n"], cell["n_missing"]) == (1, 2)
    kept = row(whole.runs, **ER, variant="dense", seed=2)["acc"]
    assert cell["acc_mean"] == pytest.approx(kept)
    statuses = found.runs.set_index(["method", "variant", "seed"])["status"]
    assert set(statuses.loc["er", "dense", 0]) == {"diverged"}
    assert set(statuses.loc["er", "dense", 1]) == {"missing"}
    assert row(found.runs, **ER, variant="dense", seed=0)[["acc", "items"]].isna().all()
    plus = row(found.summary, **ER, variant="bayes_pcn-t0.8")
    assert (plus["n"], plus["gain_n"]) == (3, 1)  # paired with the one dense run left


def test_a_run_that_is_not_ok_has_no_place_in_a_pair():
    runs = pd.DataFrame({"seed": [0, 1], "status": ["ok", "diverged"], "acc": [5.0, 6.0]})
    assert by_seed(runs, "acc") == {0: 5.0}


def test_gain_is_the_mean_of_differences_of_equal_seeds(tiny, tmp_path):
    found = built(*tiny, tmp_path / "out")
    runs = found.runs[(found.runs["scenario"] == "task_il") & (found.runs["method"] == "er")]
    by_seed = runs.pivot_table(index="seed", columns="variant", values="acc")
    expected = (by_seed["bayes_pcn-t0.8"] - by_seed["dense"]).mean()
    cell = row(found.summary, **ER, variant="bayes_pcn-t0.8")
    assert cell["gain_mean"] == pytest.approx(expected)
    assert cell["gain_low"] <= cell["gain_mean"] <= cell["gain_high"]
    assert pd.isna(row(found.summary, **ER, variant="dense")["gain_mean"])


def test_bwt_of_joint_is_not_applicable_or_accuracy_minus_untrained(tiny, tmp_path):
    shared = {"method": "joint", "scenario": "task_il", "seed": 0}
    plain = row(built(*tiny, tmp_path / "a").runs, **shared)
    assert pd.isna(plain["bwt"])
    paper = row(built(*tiny, tmp_path / "b", "untrained_reference").runs, **shared)
    last = fake_runs.record(tiny[1][0])["accuracy"]["task_il"][-1]
    assert paper["bwt"] == pytest.approx(sum(last[:-1]) / 4 - 50)


def test_equal_records_give_equal_bytes_in_any_order(tiny, tmp_path):
    paths, expected = tiny
    built(paths, expected, tmp_path / "a")
    built(paths[::-1], expected, tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert "runs.csv" in names
    assert "metrics.json" in names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "schema is 2"),
        ({"seed": 4}, "moved or copied"),
        ({"buffer": 51}, "moved or copied"),
        ({"status": "fine"}, "status is 'fine'"),
        ({"theta": 0.3}, "not a run of this suite's grid"),
    ],
)
def test_a_record_that_contradicts_itself_or_its_place_is_refused_by_name(
    tiny, tmp_path, change, said
):
    paths, expected = tiny
    wrong = find(paths, "/er/dense/", "seed0")
    edit(wrong, **change)
    with pytest.raises(UserError, match=said) as caught:
        built(paths, expected, tmp_path / "out")
    assert str(wrong) in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_record_cut_short_is_named_with_what_to_do(tiny, tmp_path):
    paths, expected = tiny
    paths[0].write_text(paths[0].read_text()[:50])
    with pytest.raises(UserError, match=r"damaged .* delete it"):
        built(paths, expected, tmp_path / "out")


def test_an_unknown_convention_for_joint_is_refused(tiny, tmp_path):
    with pytest.raises(UserError, match="joint_bwt is 'zero'"):
        built(*tiny, tmp_path / "out", "zero")


def test_a_memory_called_none_is_not_a_missing_value(tmp_path):
    grid = fake_runs.Grid(methods=("er",), buffers=(50,), seeds=2, memories=(), thetas=())
    run = fake_runs.expected(grid)[-1] | {"memory": "none", "variant": "none-t0.8", "theta": 0.8}
    path = fake_runs.path_of(tmp_path / "runs", run)
    write_json(path, fake_runs.record(run | {"memory": "mean"}) | run | {"recall": []})
    assert built([path], [run], tmp_path / "out").summary["memory"].tolist() == ["none"] * 2


def test_metrics_are_nested_by_data_set_method_variant_buffer_and_scenario():
    made = fake_results.demo()
    metrics = json.loads((made.results / "metrics.json").read_text())
    cell = metrics["digits"]["er"]["dense"]["b50"]["class_il"]
    assert set(cell) == {"acc", "bwt"}
    assert set(metrics["digits"]["joint"]["dense"]["b0"]["class_il"]) == {"acc"}


def test_every_cell_names_its_runs_their_digests_and_its_parameters():
    cells = Results(fake_results.demo().results).provenance
    cell = cells["digits/efficientnet_lite0/er/bayes_pcn-t0.8/b50"]
    assert [run["seed"] for run in cell["runs"]] == [0, 1, 2, 3, 4]
    assert all(len(run["digest"]) == 64 for run in cell["runs"])
    assert cell["params"]["lr"] == 0.1
