"""Whether a run gives the same bits alone and stacked with others, for each of the strategies."""

import torch
from torch import Tensor

from bench.section import Section, Size
from bench.streams import Shape, synthetic
from bench.timing import Measure
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread, resolve_device
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import METHODS, load
from sharc.trainer.stacked import StackedTrainer

CLOSE = 1e-3  # of the weights' largest, on a GPU, which adds up in another order


def run(size: Size) -> Section:
    """The heads of three seeds trained together against each trained alone."""
    section = Section("identity", "Stacked and lone runs")
    stream = synthetic(Shape(train=1000, test=100))
    same = [method for method in METHODS if torch.equal(*both_ways(method, stream, "cpu"))]
    section.measures["stacked_equals_lone"] = Measure.of([len(same)])
    section.notes.append(
        f"The same bits alone and stacked: {', '.join(same)} ({len(same)} of {len(METHODS)})."
    )
    if torch.cuda.is_available():
        close = sum(_apart(*both_ways(method, stream, "cuda")) <= CLOSE for method in METHODS)
        section.measures["stacked_close_on_cuda"] = Measure.of([close])
    return section


def both_ways(method: str, stream: TaskStream, device: str) -> tuple[Tensor, Tensor]:
    """The final weights [3, C, D] of three seeds, trained together and one by one."""
    stream = stream.to(resolve_device(device), torch.float32)
    with torch.no_grad(), one_thread():
        together = _weights(method, stream, [0, 1, 2], device)
        alone = [_weights(method, stream, [seed], device) for seed in range(3)]
    return together, torch.cat(alone)


def _weights(method: str, stream: TaskStream, seeds: list[int], device: str) -> Tensor:
    strategy = load("method", method)
    options = strategy.complete({"device": device})
    runs = [RunSpec(seed, 50) for seed in seeds]
    buffer = None
    if strategy.replays != "none":
        buffer = DenseBuffer(stream, runs, options, strategy.wants_logits)
    stack = StackedTrainer(stream, runs, strategy, options, buffer)
    stack.train()
    return stack.head.weight


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max() / one.abs().max())
