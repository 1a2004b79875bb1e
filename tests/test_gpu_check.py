"""`make gpu-check`: what it refuses, what it compares, and how it times a device.

The build itself is left out here; tests/workflow/test_gpu_check_whole.py has one.
"""

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import fake_results
from accelerator import accelerated
from sharc.results.folder import Results
from sharc.results.summary import summarise

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmark is no installed package

from bench import gpu_check, on_device  # noqa: E402
from bench.agreement import Agreement, Difference, agreement  # noqa: E402
from bench.on_device import Cell, Timing, measure, timed  # noqa: E402
from bench.section import Size  # noqa: E402
from bench.streams import Shape, synthetic  # noqa: E402
from bench.timing import Measure  # noqa: E402

CHANGED = "digits/er/dense/b50 task_il"


def multiplied(folder: Path, factor: float) -> Results:
    """The demo's results with the mean ACC of one cell multiplied."""
    shutil.copytree(fake_results.demo().results, folder)
    summary = Results(folder).summary.copy()
    cell = {"method": "er", "variant": "dense", "buffer": 50, "scenario": "task_il"}
    chosen = pd.concat([summary[k] == v for k, v in cell.items()], axis=1).all(axis=1)
    assert chosen.sum() == 1
    summary.loc[chosen, "acc_mean"] *= factor
    summary.to_csv(folder / "summary.csv", index=False)
    return Results(folder)


def compared(folder: Path, factor: float) -> Agreement:
    return agreement(multiplied(folder, factor), Results(fake_results.demo().results))


# Refusal. ---------------------------------------------------------------------------------------


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a GPU and without NVIDIA's tool; the folder where commands are found."""
    monkeypatch.setattr(gpu_check, "gpu", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_a_gpu_it_says_what_was_found_and_what_to_do(no_gpu, capsys):
    assert gpu_check.main([]) == 2
    said = capsys.readouterr().err
    assert said.startswith("No GPU found: PyTorch ")
    assert "nvidia-smi: not installed." in said
    assert "make gpu-check DEVICE=cpu" in said


@pytest.mark.parametrize(
    "words", ["echo 'Some GPU, 580.1, 8192 MiB'", "echo 'Some GPU, 580.1, 8192 MiB' >&2; exit 9"]
)
def test_a_gpu_that_pytorch_does_not_see_is_named(no_gpu, capsys, words):
    tool = no_gpu / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{words}\n")
    tool.chmod(0o755)
    assert gpu_check.main([]) == 2
    assert "nvidia-smi: Some GPU, 580.1, 8192 MiB." in capsys.readouterr().err


# Comparison. ------------------------------------------------------------------------------------


def test_the_same_results_agree(tmp_path):
    found = compared(tmp_path / "committed", 1.0)
    assert found.holds
    assert found.largest.percent == 0
    assert len(found.cells) == len(Results(fake_results.demo().results).summary)
    assert found.runs == found.same_runs == len(Results(fake_results.demo().results).runs)


@pytest.mark.parametrize(("factor", "percent"), [(1.25, 20.0), (1 / 1.0011, 0.11), (0.5, 100.0)])
def test_a_cell_beyond_a_tenth_of_a_percent_is_named(tmp_path, factor, percent):
    found = compared(tmp_path / "committed", factor)
    assert [cell.cell for cell in found.beyond] == [CHANGED]
    assert found.largest.percent == pytest.approx(percent)
    assert f"  beyond: {CHANGED}: " in str(found)
    assert not found.holds


def test_a_cell_within_a_tenth_of_a_percent_is_the_largest_difference_and_no_more(tmp_path):
    found = compared(tmp_path / "committed", 1.0009)
    assert found.holds
    assert found.largest.cell == CHANGED
    assert found.largest.percent == pytest.approx(0.0899, abs=1e-4)
    assert "0 differ by more than 0.1 %" in str(found)


@pytest.mark.parametrize("side", [0, 1])
def test_a_cell_or_a_number_that_one_side_lacks_is_no_agreement(tmp_path, side):
    whole, less = Results(fake_results.demo().results), multiplied(tmp_path / "less", float("nan"))

    def found() -> Agreement:
        return agreement(*((less, whole), (whole, less))[side])

    [beyond] = found().beyond
    assert beyond.cell == CHANGED
    assert "missing" in str(beyond)
    assert beyond.json()["percent"] is None
    whole.summary.iloc[1:].to_csv(tmp_path / "less/summary.csv", index=False)
    less = Results(tmp_path / "less")
    short = found()
    assert (short.beyond, short.alone) == ([], ((0, 1), (1, 0))[side])
    assert not short.holds


def test_what_both_sides_lack_is_no_difference():
    assert Difference("cell", None, None, False).percent == 0


def test_runs_that_came_out_otherwise_are_counted(tmp_path):
    folder = tmp_path / "committed"
    shutil.copytree(fake_results.demo().results, folder)
    runs = Results(folder).runs.copy()
    runs.loc[runs.index < 3, "acc"] += 0.01
    runs.to_csv(folder / "runs.csv", index=False)
    found = agreement(Results(folder), Results(fake_results.demo().results))
    assert found.runs - found.same_runs == 3


def test_a_difference_that_all_seeds_share_is_beyond_their_spread(tmp_path):
    folder = tmp_path / "committed"
    shutil.copytree(fake_results.demo().results, folder)
    runs = Results(folder).runs.copy()
    runs.loc[(runs["method"] == "sgd"), "acc"] += 1.0
    runs.to_csv(folder / "runs.csv", index=False)
    summarise(runs).to_csv(folder / "summary.csv", index=False)
    found = agreement(Results(folder), Results(fake_results.demo().results))
    assert {cell.cell.split("/")[1] for cell in found.beyond} == {"sgd"}
    assert all(cell.decided for cell in found.beyond)
    assert "2 differ by more than 0.1 %, 2 of them beyond the spread over seeds" in str(found)


# Time. ------------------------------------------------------------------------------------------


def test_the_clock_starts_and_stops_when_the_device_has_nothing_left_to_do(monkeypatch):
    waits: list[int] = []

    def clock() -> float:
        waits.append(counts.reads.total())
        return 2.0 ** len(waits)

    monkeypatch.setattr(on_device, "time", SimpleNamespace(perf_counter=clock))
    with accelerated() as counts:
        assert timed(lambda: None, "cuda")() == 4 - 2
    assert waits == [1, 2]


def test_a_cell_is_trained_on_the_device_and_on_the_processor(monkeypatch):
    small = synthetic(Shape(features=16, train=200, test=100))
    monkeypatch.setattr(on_device, "synthetic", lambda *_: small)
    with accelerated() as counts:
        found = measure(Cell("er", seeds=1), "cuda", Size("tiny", 2, 0.0, 0.0))
    assert counts.kernels, "nothing was computed on the accelerator"
    assert found.times_as_fast.n == found.on_device.n == found.on_cpu.n == 2
    assert found.times_as_fast.low <= found.on_cpu.high / found.on_device.low
    assert str(found).startswith("ER, 10 replayed, 10 classes, 1 runs: ")


# All of it. -------------------------------------------------------------------------------------


@pytest.fixture
def checked(monkeypatch, tmp_path):
    """Run the command where results/demo holds some results and the build gives the demo's."""

    def build(project: Path) -> None:
        shutil.copytree(fake_results.demo().results, project / "outputs/results")

    def run(factor: float) -> tuple[int, dict]:
        multiplied(tmp_path / "results/demo", factor)
        code = gpu_check.main(["--device", "cpu"])
        return code, json.loads((tmp_path / "outputs/gpu-check/gpu-check.json").read_text())

    one = Measure.of(1.0)
    monkeypatch.setattr(gpu_check, "build", build)
    monkeypatch.setattr(gpu_check, "measure", lambda cell, *_: Timing(cell, one, one, one))
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    return run


def test_results_that_agree_end_with_success_and_a_file_to_send(checked, capsys):
    code, sent = checked(1.0)
    assert code == 0
    assert sent["agreement"]["holds"]
    assert {"commit", "packages", "driver", "cuda", "processor", "build"} <= sent.keys()
    assert sent["device"] == "cpu"
    assert [row["cell"] for row in sent["training"]] == [str(cell) for cell in on_device.CELLS]
    assert sent["training"][0]["times_as_fast"] == {"median": 1, "low": 1, "high": 1, "n": 1}
    assert "outputs/gpu-check/gpu-check.json" in capsys.readouterr().out


def test_one_number_that_differs_ends_with_failure_and_its_name(checked, capsys):
    code, sent = checked(1.01)
    assert code == 1
    assert [cell["cell"] for cell in sent["agreement"]["beyond"]] == [CHANGED]
    assert f"beyond: {CHANGED}" in capsys.readouterr().out


def test_what_is_built_runs_on_the_device_that_was_asked_for(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    gpu_check.prepare(tmp_path / "project", train="cuda", features="cpu")
    from sharc.config import load_params

    params, ours = (load_params(folder / "params.yaml") for folder in (tmp_path / "project", ROOT))
    assert (params.train.device, params.features.device) == ("cuda", "cpu")
    devices = {"device": "auto"}
    assert params.train.model_copy(update=devices) == ours.train
    assert params.methods == ours.methods
