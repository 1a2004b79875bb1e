"""Every closed form steps as its loss does, differentiated and stacked by torch."""

from typing import Any

import pytest
import torch

from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import load
from sharc.strategies import loss_forms
from sharc.strategies.base import Strategy
from sharc.trainer.stacked import StackedTrainer

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "SGD": ("sgd", {}),
    "Joint": ("joint", {}),
    "ER": ("er", {"memory_strength": 0.7}),
    "ER sampled": ("er", {"replay": "sampled", "memory_strength": 0.7}),
    "MER": ("mer", {"beta": 0.8, "gamma": 0.5}),
    "GEM": ("gem", {}),
    "AGEM": ("agem", {}),
    "DERpp": ("derpp", {}),
    "CLSER": ("clser", {}),
}
TOLERANCE = {"float32": 1e-5, "float64": 1e-9}


def trained(
    stream: TaskStream, runs: list[RunSpec], strategy: type[Strategy], options: dict[str, Any]
) -> StackedTrainer:
    complete = strategy.complete(options)
    exact = stream.to(torch.device("cpu"), getattr(torch, complete["dtype"]))
    buffer = None
    if strategy.replays != "none":
        buffer = DenseBuffer(exact, runs, complete, strategy.wants_logits)
    trainer = StackedTrainer(exact, runs, strategy, complete, buffer)
    with torch.no_grad(), one_thread():
        trainer.train()
    return trainer


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", METHODS)
def test_a_closed_form_is_its_loss_over_200_steps(name: str, dtype: str) -> None:
    method, options = METHODS[name]
    stream = toy_stream(tasks=5, examples=200)  # 5 tasks of 40 steps
    options = {"batch": 5, "replay_batch": 6, "learning_rate": 0.05, "dtype": dtype} | options
    options["device"] = "cpu"
    runs = [RunSpec(3, 20), RunSpec(4, 33)]  # of different sizes, so one memory has empty slots
    closed = trained(stream, runs, load("method", method), options)
    by_loss = trained(stream, runs, getattr(loss_forms, name.split(maxsplit=1)[0]), options)
    for ours, theirs in zip(heads(closed), heads(by_loss), strict=True):
        torch.testing.assert_close(ours, theirs, atol=TOLERANCE[dtype], rtol=0)


def heads(trainer: StackedTrainer) -> list[torch.Tensor]:
    every = [trainer.strategy.evaluated(), *trainer.strategy.heads().values()]
    return [part for head in every for part in head.parameters.values()]
