"""Whether a run gives the same bits alone and stacked with others, for each of the strategies."""

import torch
from torch import Tensor

from bench.section import Section, Size
from bench.streams import Shape, synthetic
from bench.timing import Measure
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import METHODS, load
from sharc.trainer.stacked import StackedTrainer


def run(size: Size) -> Section:
    """The heads of three seeds trained together against each trained alone."""
    stream = synthetic(Shape(train=1000, test=100))
    with torch.no_grad(), one_thread():
        same = [
            method
            for method in METHODS
            if torch.equal(
                _weights(method, stream, [0, 1, 2]),
                torch.cat([_weights(method, stream, [seed]) for seed in range(3)]),
            )
        ]
    return Section({"stacked_equals_lone": Measure.of(len(same))})


def _weights(method: str, stream: TaskStream, seeds: list[int]) -> Tensor:
    """The final weights [S, C, D]."""
    strategy = load("method", method)
    options = strategy.complete({"device": "cpu"})
    runs = [RunSpec(seed, 50) for seed in seeds]
    buffer = None
    if strategy.replays != "none":
        buffer = DenseBuffer(stream, runs, options, strategy.wants_logits)
    stack = StackedTrainer(stream, runs, strategy, options, buffer)
    stack.train()
    return stack.head.weight
