"""`import sharc`: a small surface that is light, explains itself, and gives our numbers."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch

import sharc
from mapped_toy import mapped_stream
from sharc.config import load_params as read_params
from sharc.engine.runs import RunSpec
from sharc.registry import load
from sharc.strategies.sgd import SGD
from sharc.trainer.train import train as train_runs

ROOT = Path(__file__).parents[1]
PARAMS = read_params(ROOT / "params.yaml", suite="demo")
SEEDS = (0, 1, 2)


class Slower(SGD):
    """SGD at a tenth of the rate."""

    defaults: ClassVar = {"share": 0.1}

    def step(self, batch):
        self.rate = float(self.options["learning_rate"]) * float(self.options["share"])
        super().step(batch)


@pytest.fixture(scope="module")
def stream():
    return mapped_stream()


@pytest.fixture(scope="module")
def er(stream):
    return sharc.train("er", stream, PARAMS, buffer=12, seeds=SEEDS)


@pytest.fixture(scope="module")
def er_plus(stream):
    return sharc.train(
        "er", stream, PARAMS, buffer=12, memory="modern_hopfield", theta=0.5, seeds=SEEDS
    )


def test_importing_it_loads_nothing_heavy():
    heavy = "torch", "numpy", "pandas", "matplotlib", "pydantic", "sklearn"
    code = f"import sharc, sys; print([m for m in {heavy} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_every_public_name_is_there_and_explains_itself():
    assert set(sharc.__all__) <= set(dir(sharc))
    for name in set(sharc.__all__) - {"__version__"}:
        assert getattr(sharc, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        _ = sharc.trian


def test_the_version_is_that_of_the_installed_package():
    assert sharc.__version__ == importlib.metadata.version("sharc")


@pytest.mark.parametrize("module", ["project", "streams"])
def test_the_examples_in_the_docstrings_are_right(module: str, monkeypatch):
    monkeypatch.chdir(ROOT)
    found = importlib.import_module(f"sharc.{module}")
    result = doctest.testmod(found)
    assert (result.failed, result.attempted > 0) == (0, True)


def test_training_from_python_gives_the_bits_of_the_pipelines_trainer(stream, er):
    options = {
        "learning_rate": PARAMS.train.learning_rate,
        "memory_strength": PARAMS.methods.er.memory_strength,
    }
    buffer = load("memory", "pooled").__mro__[1]  # whole maps: the buffer that it builds upon
    direct = train_runs(
        stream, [RunSpec(seed, 12) for seed in SEEDS], load("method", "er"), options, buffer
    )
    for run, result in zip(er.runs, direct, strict=True):
        assert run.record["accuracy"]["class_il"][-1] == result.accuracy.class_il[-1].tolist()


def test_the_frame_has_a_row_for_each_run_and_scenario(er):
    assert len(er.frame) == len(SEEDS) * 2
    last = np.array(er.runs[1].record["accuracy"]["task_il"][-1], dtype=float)
    row = er.frame[(er.frame["seed"] == 1) & (er.frame["scenario"] == "task_il")].iloc[0]
    assert row["acc"] == pytest.approx(last.mean())
    assert repr(er).startswith("<er, dense, 3 seeds: ACC class_il ")


def test_the_gain_over_the_same_method_without_is_paired_by_seed(er, er_plus):
    table = sharc.summary(er, er_plus).set_index(["variant", "scenario"])
    plus, plain = (
        one.frame[one.frame["scenario"] == "class_il"].set_index("seed")["acc"]
        for one in (er_plus, er)
    )
    found = table.loc[("modern_hopfield-t0.5", "class_il"), "gain_mean"]
    assert found == pytest.approx((plus - plain).mean())
    assert np.isnan(table.loc[("dense", "class_il"), "gain_mean"])


def test_a_class_of_ones_own_trains_under_its_name_with_its_options(stream):
    own = sharc.train(Slower, stream, PARAMS, seeds=(0,))
    tenth = sharc.train("sgd", stream, _with_rate(PARAMS.train.learning_rate * 0.1), seeds=(0,))
    same = sharc.train(Slower, stream, PARAMS, seeds=(0,), name="as sgd", share=1.0)
    sgd = sharc.train("sgd", stream, PARAMS, seeds=(0,))
    assert (own.name, same.name) == ("Slower", "as sgd")
    assert own.frame["acc"].tolist() == pytest.approx(tenth.frame["acc"].tolist())
    assert same.frame["acc"].tolist() == sgd.frame["acc"].tolist()
    assert own.frame["acc"].tolist() != sgd.frame["acc"].tolist()


def _with_rate(rate: float):
    train = PARAMS.train.model_copy(update={"learning_rate": rate})
    return PARAMS.model_copy(update={"train": train})


def test_a_stream_of_ones_own_features_is_split_by_label():
    maps = torch.rand(12, 2, 2, 5)
    labels = torch.arange(12) % 4
    stream = sharc.make_stream((maps, labels), (maps, labels), tasks=2)
    assert stream.classes == [[0, 1], [2, 3]]
    assert stream.train_tasks[1].tolist() == [2, 3, 6, 7, 10, 11]
    torch.testing.assert_close(stream.x, maps.mean(dim=(1, 2)))
    assert stream.maps.rows(torch.tensor([3])).equal(maps[3:4])


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda s: sharc.train("er", s, PARAMS, memory="oracle"), "needs both `memory` and"),
        (
            lambda s: sharc.train("er", s, PARAMS, memory="oracle", theta=2),
            "theta is 2: it must be",
        ),
        (
            lambda s: sharc.train("er", s, PARAMS, seeds=[1, 1]),
            r"seeds are \[1, 1\]: give at least",
        ),
        (lambda s: sharc.train("err", s, PARAMS), "unknown method 'err'.*mean 'er'"),
        (lambda s: sharc.train("er", s, PARAMS, memory="orcle", theta=0.5), "mean 'oracle'"),
        (lambda s: sharc.train("gem", s, PARAMS, magin=1), "magin"),
        (lambda s: sharc.summary(), "nothing to compare"),
        (lambda s: sharc.load_stream("cifra10", PARAMS, ROOT), "unknown data set 'cifra10'"),
        (
            lambda s: sharc.make_stream(([[1.0]], [0.5]), ([[1.0]], [0]), 1),
            r"train: features \(1, 1\) with labels \(1,\) of torch.float64. Legal",
        ),
        (lambda s: sharc.make_stream(([[1.0]], [1]), ([[1.0]], [1]), 1), "every class from 0 on"),
        (
            lambda s: sharc.make_stream(([[1.0]] * 2, [0, 1]), ([[1.0]] * 2, [0, 1]), 3),
            "2 classes do not divide into 3 tasks",
        ),
    ],
)
def test_a_mistake_is_one_message_with_what_is_legal(stream, what, message):
    with pytest.raises(sharc.UserError, match=message):
        what(stream)


def test_two_that_go_by_the_same_name_are_not_averaged(er):
    with pytest.raises(sharc.UserError, match=r"'er' appears twice: .*name="):
        sharc.summary(er, er)


def test_outside_a_project_it_says_how_to_get_one(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sharc.UserError, match=r"not in a sharc project.*sharc init FOLDER"):
        sharc.load_params()


def test_a_project_is_found_from_a_folder_below_it(monkeypatch):
    monkeypatch.chdir(ROOT / "docs" / "captions")
    assert sharc.load_params("demo") == PARAMS


def test_features_that_are_not_built_are_named_with_the_command_that_builds_them(tmp_path: Path):
    from sharc.cli.project import init_project

    init_project(tmp_path)
    with pytest.raises(sharc.UserError, match=r"digits\.json does not exist\. Build it first"):
        sharc.load_stream("digits", folder=tmp_path)


def test_figures_have_a_line_for_each_method(er, er_plus):
    curves = sharc.plot_curves(er, er_plus)
    assert [text.get_text() for text in curves.legends[0].get_texts()] == [
        "ER",
        "ER⁺, modern Hopfield, θ = 0.5",
    ]
    means = er.curves.query("scenario == 'class_il'").groupby("task")["accuracy"].mean()
    assert curves.axes[1].get_lines()[0].get_ydata().tolist() == pytest.approx(means.tolist())
    dots = sharc.plot_summary(er, er_plus)
    row = sharc.summary(er).query("scenario == 'task_il'").iloc[0]
    line, dot, *_ = dots.axes[0].get_lines()
    assert line.get_xdata().tolist() == [row["acc_low"], row["acc_high"]]
    assert dot.get_xdata().tolist() == [row["acc_mean"]]
