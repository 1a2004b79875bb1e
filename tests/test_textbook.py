"""The textbook's SHARC and the pipeline's are one run: the same heads, the same accuracies."""

import inspect
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from mapped_toy import BUFFER, T, mapped_stream
from sharc.buffers.sharc import SharcBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import load
from sharc.saliency import kept_count, masks
from sharc.textbook import sharc as textbook
from sharc.textbook.__main__ import main
from sharc.textbook.hopfield import ModernHopfield
from sharc.textbook.sharc import Classifier, capacity, mask, saliency, train
from sharc.trainer.train import train as train_stacked

OPTIONS: dict[str, Any] = {"learning_rate": 0.05, "batch": 10, "replay_batch": 10}


@pytest.fixture(scope="module")
def stream() -> TaskStream:
    return mapped_stream().to(torch.device("cpu"), torch.float64)


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("method", ["er", "gem", "derpp", "clser"])
def test_algorithm_1_is_the_pipelines_sharc(method: str, theta: float, stream: TaskStream) -> None:
    strategy = load("method", method)
    options = strategy.complete(OPTIONS | {"dtype": "float64", "device": "cpu"})
    make = partial(SharcBuffer, memory=load("memory", "modern_hopfield"))
    runs = [RunSpec(seed, BUFFER, theta) for seed in (0, 1)]
    found = train_stacked(stream, runs, strategy, options, make)
    for run, result in zip(runs, found, strict=True):
        memory = ModernHopfield() if theta else None
        with one_thread():
            alone = train(method, stream, run.seed, BUFFER, options, memory, theta)
        assert [len(episode.y) for episode in alone.episodes] == [result.ledger["items"] // T] * T
        for ours, theirs in (
            (result.accuracy.class_il, alone.class_il),
            (result.accuracy.task_il, alone.task_il),
        ):
            np.testing.assert_allclose(ours[np.tril_indices(T)], np.concatenate(theirs))


def some_maps() -> tuple[Classifier, Tensor, Tensor]:
    maps = torch.rand(4, 7, 7, 12, generator=torch.Generator().manual_seed(0))
    return Classifier(12, 5, seed=0, dtype=torch.float32), maps, torch.tensor([0, 3, 3, 4])


def test_the_saliency_of_a_linear_classifier_is_its_weight_row_over_49() -> None:
    f, maps, y = some_maps()
    torch.testing.assert_close(saliency(f, maps, y), f.weight.detach()[y] / 49)


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.8, 0.9])
def test_the_mask_keeps_what_the_pipeline_keeps_and_the_budget_counts(theta: float) -> None:
    f, maps, y = some_maps()
    alpha = saliency(f, maps, y)
    kept = mask(alpha, theta)
    assert torch.equal(kept, masks(alpha, theta))
    assert kept.sum(dim=1).tolist() == [kept_count(12, theta)] * 4


def test_at_theta_08_five_times_as_many_examples_fit(stream: TaskStream) -> None:
    assert capacity(stream, BUFFER, 0.0) == BUFFER // T
    assert capacity(stream, BUFFER, 0.8) == 5 * BUFFER // T


PAGE = (Path(__file__).parents[1] / "docs/method.md").read_text()


def test_the_code_on_the_page_is_the_textbooks() -> None:
    folder = Path(textbook.__file__).parent
    sources = "\n".join(path.read_text() for path in folder.glob("*.py"))
    lines = {line.split("  # ")[0].strip() for line in sources.splitlines()}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shown = [line.split("  # ")[0].strip() for line in "".join(blocks).splitlines()]
    signatures = [line for line in shown if line.startswith("def ")]  # shown without their types
    assert [line for line in shown if line not in lines and line not in signatures] == []
    for signature in signatures:
        name, arguments = re.fullmatch(r"def (\w+)\((.*)\):", signature).groups()  # type: ignore[union-attr]
        assert list(inspect.signature(getattr(textbook, name)).parameters) == arguments.split(", ")


@pytest.mark.slow
def test_the_page_about_the_method_shows_what_its_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    [shown] = re.findall(r"\$ python -m sharc.textbook\n(.*?)\n```", PAGE, re.DOTALL)
    with one_thread():
        main()
    found = capsys.readouterr().out.rstrip()
    number = r"\d+\.\d+|(?<![\w-])\d+(?![\w-])"
    words = [re.sub(rf"\s*({number})\s*", " # ", text) for text in (found, shown)]
    assert words[0] == words[1]
    numbers = [[float(n) for n in re.findall(number, text)] for text in (found, shown)]
    np.testing.assert_allclose(numbers[0], numbers[1], atol=3)  # a few test images, elsewhere
