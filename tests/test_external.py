"""Results from elsewhere: their CSV file, checked by line and column, and other libraries' logs."""

import math
from pathlib import Path

import pytest

import fake_runs
from sharc.cli.importing import import_log
from sharc.config import load_params
from sharc.errors import UserError
from sharc.external.table import Run, check_external, read_runs, write_runs
from sharc.pipeline import build_graph
from sharc.results.cells import grids
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.stages import collect
from sharc.tables import render
from sharc.tables.main import tables

HEAD = "method,dataset,buffer,seed,scenario,acc,bwt\n"
ER = Run("er", "cifar10", 200, 0, "class_il", 61.5, -20.25)


def csv(folder: Path, *lines: str, head: str = HEAD) -> Path:
    path = folder / "theirs.csv"
    path.write_text(head + "".join(f"{line}\n" for line in lines))
    return path


def test_what_is_written_is_read_back(tmp_path):
    runs = [ER, Run("er+", "cifar10", 200, 1, "task_il", 90.0, math.nan)]
    write_runs(tmp_path / "a.csv", runs)
    first, second = read_runs(tmp_path / "a.csv")
    assert first == ER
    assert second[:6] == runs[1][:6]
    assert math.isnan(second.bwt)


def test_labels_other_columns_and_their_order_do_not_matter(tmp_path):
    head = "Scenario,note,ACC,BWT,seed,buffer,dataset,method\n"
    path = csv(tmp_path, "class_il,good,61.5,-20.25,0,200,cifar10,ER", head=head)
    assert read_runs(path) == [ER]
    plus = csv(tmp_path, "DER++,cifar10,200,0,class_il,61,", "DER+++,cifar10,200,0,class_il,62,")
    assert [run.method for run in read_runs(plus)] == ["derpp", "derpp+"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("err,cifar10,200,0,class_il,61,", "line 3, column method: unknown method 'err'"),
        ("er,cifar,200,0,class_il,61,", "line 3, column dataset: unknown data set 'cifar'"),
        ("er,cifar10,-2,0,class_il,61,", "line 3, column buffer: '-2' is not a whole number"),
        ("er,cifar10,200,x,class_il,61,", "line 3, column seed: 'x' is not a whole number"),
        ("er,cifar10,200,0,class,61,", "line 3, column scenario: unknown scenario 'class'"),
        ("er,cifar10,200,0,class_il,161,", "column acc: '161' is not a number from 0 to 100"),
        ("er,cifar10,200,0,class_il,nan,", "column acc: 'nan' is not a number from 0 to 100"),
        ("er,cifar10,200,0,class_il,61,x", "column bwt: 'x' is not a number from -100 to 100"),
        ("er,cifar10,200,0", "line 3: 4 entries where the first line has 7"),
        ("er,cifar10,200,7,class_il,61,", "line 3: the same method, data set, buffer, seed"),
    ],
)
def test_a_wrong_entry_is_named_by_line_and_column_with_what_is_legal(tmp_path, line, said):
    path = csv(tmp_path, "er,cifar10,200,7,class_il,60.5,", line)
    with pytest.raises(UserError) as error:
        read_runs(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("head", "lines", "said"),
    [
        ("method,dataset,seed\n", [], "line 1: no column buffer, scenario, acc, bwt"),
        (HEAD, [], "has no rows"),
        (HEAD, ["er,cifar10,200,0,class_il,0.61,"], "the largest value is 0.61; ACC and BWT are"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_refused(tmp_path, head, lines, said):
    with pytest.raises(UserError, match=said):
        read_runs(csv(tmp_path, *lines, head=head))


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(UserError, match="does not exist: name a CSV file with the columns method"):
        read_runs(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a CSV file in UTF-8"):
        read_runs(tmp_path / "a.csv")


def test_the_message_names_the_key_that_names_the_file(tmp_path):
    with pytest.raises(UserError, match=r"params.yaml: external.mine: .*none.csv does not exist"):
        check_external({"mine": str(tmp_path / "none.csv")})


MATRIX = {(1, 1): 98.0, (2, 1): 60.0, (2, 2): 97.0, (3, 1): 40.0, (3, 2): 50.0, (3, 3): 96.0}
ACC, BWT = 62.0, (40 - 98 + 50 - 97) / 2  # by hand


def mammoth_log(root: Path, scenario: str = "class-il", model: str = "er", **more) -> Path:
    """Lines in the format of Mammoth's Logger.write: a printed dictionary per run."""
    folder = root / scenario / "seq-cifar10" / model
    folder.mkdir(parents=True, exist_ok=True)
    said = {"dataset": "seq-cifar10", "model": model, "lr": 0.1, "buffer_size": 200, "seed": 3}
    said |= {"conf_host": "node", "device": "cuda:0", "notes": None} | more
    said |= {f"accmean_task{t}": 50.0 for t in (1, 2, 3)}
    said |= {f"accuracy_{i}_task{t}": value for (t, i), value in MATRIX.items()}
    said |= {"forward_transfer": None, "backward_transfer": BWT, "forgetting": 52.5}
    path = folder / "logs.pyd"
    with path.open("a") as log:
        log.write(f"{said}\n")
    return path


def test_mammoths_log_becomes_one_row_per_run_and_scenario(tmp_path):
    for scenario in ("class-il", "task-il"):
        for seed in (0, 1):
            mammoth_log(tmp_path, scenario, seed=seed)
    import_log("mammoth", tmp_path, tmp_path / "out.csv")
    runs = read_runs(tmp_path / "out.csv")
    assert {(run.scenario, run.seed) for run in runs} == {
        ("class_il", 0), ("class_il", 1), ("task_il", 0), ("task_il", 1),
    }  # fmt: skip
    assert {run[:3] + run[5:] for run in runs} == {("er", "cifar10", 200, ACC, BWT)}


def test_numbers_that_numpy_2_prints_are_read_and_nothing_is_evaluated(tmp_path):
    path = mammoth_log(tmp_path)
    text = path.read_text().replace(": 40.0,", ": np.float64(40.0),")
    path.write_text(text.replace("'cuda:0'", "device(type='cuda', index=__import__('os'))"))
    import_log("mammoth", path, tmp_path / "out.csv")
    (run,) = read_runs(tmp_path / "out.csv")
    assert (run.acc, run.bwt) == (ACC, BWT)


def test_importing_again_replaces_and_another_seed_adds(tmp_path, capsys):
    out = tmp_path / "out.csv"
    path = mammoth_log(tmp_path)
    import_log("mammoth", path, out)
    import_log("mammoth", path, out)
    assert "1 rows, 0 new, 1 replaced" in capsys.readouterr().out
    import_log("mammoth", path, out, seed=4)
    assert [run.seed for run in read_runs(out)] == [3, 4]


@pytest.mark.parametrize(
    ("more", "given", "said"),
    [
        ({"model": "lwf_mc"}, {}, "line 1, method: unknown method 'lwf_mc'"),
        ({"dataset": "seq-mnist"}, {}, "line 1, dataset: unknown data set 'seq-mnist'"),
        ({"seed": None}, {}, "no 'seed'. Give it with --seed"),
        ({}, {"scenario": "domain_il"}, "unknown scenario 'domain_il'"),
    ],
)
def test_what_a_log_says_is_checked_and_nothing_is_written(tmp_path, more, given, said):
    path = mammoth_log(tmp_path, **more)
    with pytest.raises(UserError) as error:
        import_log("mammoth", path, tmp_path / "out.csv", **given)
    assert said in str(error.value)
    assert not (tmp_path / "out.csv").exists()


def test_a_log_that_is_none_an_unfinished_run_and_runs_without_a_seed_of_their_own(tmp_path):
    out = tmp_path / "out.csv"
    (tmp_path / "logs.pyd").write_text("{'dataset': 'seq-cifar10'}\n")
    with pytest.raises(UserError, match="not a line that Mammoth's logger wrote"):
        import_log("mammoth", tmp_path / "logs.pyd", out)
    path = mammoth_log(tmp_path)
    whole = path.read_text()
    path.write_text(whole.replace("'accuracy_2_task3': 50.0, ", ""))
    with pytest.raises(UserError, match="no accuracy on task 2: the run was not finished"):
        import_log("mammoth", path, out)
    path.write_text(whole * 2)
    with pytest.raises(UserError, match="several runs of er, cifar10, 200, 3, class_il"):
        import_log("mammoth", path, out)
    with pytest.raises(UserError, match="no Mammoth log"):
        import_log("mammoth", tmp_path / "empty", out)
    with pytest.raises(UserError, match=r"unknown library 'mamoth'. Did you mean 'mammoth'"):
        import_log("mamoth", path, out)
    assert not out.exists()


def avalanche_log(folder: Path) -> Path:
    """The format of Avalanche's CSVLogger: shares with four digits, experiences from 0."""
    lines = ["eval_exp,training_exp,eval_accuracy,eval_loss,forgetting", "0,None,0.1000,2.3,0"]
    lines += [f"{i - 1},{t - 1},{value / 100:.4f},0.5000,0" for (t, i), value in MATRIX.items()]
    path = folder / "eval_results.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


GIVEN = {"method": "er", "dataset": "cifar10", "buffer": 200, "seed": 0, "scenario": "class_il"}


def test_avalanches_log_becomes_a_row(tmp_path):
    avalanche_log(tmp_path)
    import_log("avalanche", tmp_path, tmp_path / "out.csv", **GIVEN)
    (run,) = read_runs(tmp_path / "out.csv")
    assert run[:5] == tuple(GIVEN.values())
    assert run.acc == pytest.approx(ACC)
    assert run.bwt == pytest.approx(BWT)


def test_avalanches_log_does_not_say_what_was_run_and_bad_ones_are_refused(tmp_path):
    path = avalanche_log(tmp_path)
    with pytest.raises(UserError, match="does not say buffer, scenario: give --buffer"):
        import_log("avalanche", path, tmp_path / "out.csv", method="er", dataset="cifar10", seed=0)
    path.write_text(path.read_text().replace("0.9800", "98"))
    with pytest.raises(UserError, match="line 3, column eval_accuracy: '98' is not a share"):
        import_log("avalanche", path, tmp_path / "out.csv", **GIVEN)
    path.write_text("training_exp,epoch\n0,1\n")
    with pytest.raises(UserError, match="no column eval_exp, eval_accuracy"):
        import_log("avalanche", path, tmp_path / "out.csv", **GIVEN)
    with pytest.raises(UserError, match=r"does not exist: name an eval_results\.csv"):
        import_log("avalanche", tmp_path / "none.csv", tmp_path / "out.csv", **GIVEN)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A small grid, collected with a file of two seeds of ER and one of ER+ from elsewhere."""
    root = tmp_path_factory.mktemp("theirs")
    grid = fake_runs.Grid(methods=("sgd", "er"), buffers=(50, 200), seeds=2)
    paths, expected = fake_runs.write(root / "runs", grid)
    file = csv(
        root,
        "er,digits,50,0,task_il,90,-1", "er,digits,50,1,task_il,92,-3",
        "er+,digits,200,0,task_il,95,", "er,cifar10,50,0,task_il,70,",
    )  # fmt: skip
    collect.build(
        paths, expected, root / "results", joint_bwt="not_applicable",
        external={"mammoth": str(file)},
    )  # fmt: skip
    layout = Layout.of(fake_runs.LAYOUT | {"methods": ["sgd", "er"]})
    return Results(root / "results"), layout


def test_theirs_are_rows_of_their_own_after_ours_of_the_same_buffer(theirs):
    grid = next(grids(*theirs))
    labels = [f"{row.buffer} {row.label}" for row, _ in grid.rows]
    assert labels == [
        "0 SGD", "50 ER", "50 ER⁺", "50 ER (mammoth) †",
        "200 ER", "200 ER⁺", "200 ER⁺ (mammoth) †",
    ]  # fmt: skip
    mine = {label: cells[0] for label, (_, cells) in zip(labels, grid.rows, strict=True)}
    assert mine["50 ER (mammoth) †"].text("acc") == "91.00 ± 1.41"
    assert mine["200 ER⁺ (mammoth) †"].text("acc") == "95.00"
    assert mine["200 ER⁺ (mammoth) †"].text("bwt") == "n/a"


def test_they_count_in_nothing_of_ours_and_the_table_says_whose_they_are(theirs):
    results, layout = theirs
    assert set(results.summary["n"]) == {2}
    task_il, class_il = tables(results, layout, None)
    assert any("† Not ours, read as given: mammoth from" in note for note in task_il.notes)
    assert "†" in render.markdown(task_il)
    assert r"$^\dagger$" in render.tex(task_il)
    assert "†" not in render.markdown(class_il)


def test_without_external_results_an_earlier_file_of_them_is_gone(tmp_path):
    grid = fake_runs.Grid(methods=("sgd",), seeds=2)
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "external.csv").write_text("old")
    collect.build(paths, expected, tmp_path / "results", joint_bwt="not_applicable")
    assert not (tmp_path / "results" / "external.csv").exists()


def collecting(path):
    """The job `collect` of the demo with this file under `external:`, and its key."""
    graph = build_graph(load_params().model_copy(update={"external": {"theirs": str(path)}}))
    (job,) = graph.in_stage("collect")
    return job, graph.key(job, {})


def test_the_file_is_an_input_of_collect_and_its_content_decides_what_is_current(tmp_path):
    path = csv(tmp_path, "er,digits,50,0,task_il,90,-1")
    job, key = collecting(path)
    assert str(path) in job.sources
    assert collecting(path)[1] == key
    csv(tmp_path, "er,digits,50,0,task_il,91,-1")
    assert collecting(path)[1] != key


def test_a_wrong_file_stops_a_build_before_it_begins(tmp_path):
    with pytest.raises(UserError, match="line 2, column acc: 'high' is not a number"):
        collecting(csv(tmp_path, "er,digits,50,0,task_il,high,-1"))
