"""A toy stream whose images have maps, and runs of SHARC on it."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from sharc.buffers.base import Buffer
from sharc.buffers.dense import DenseBuffer
from sharc.engine.runs import RunResult, RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.options.base import parsed
from sharc.options.storage import StorageOptions
from sharc.references import import_class
from sharc.registry import load
from sharc.trainer.train import MakeBuffer, train

T, PER_CLASS, K, H = 3, 30, 40, 2
BUFFER = 12  # four maps per task
SMALL: dict[str, dict[str, Any]] = {"bayes_pcn": {"hidden": 24}, "pcn": {"hidden": 24}}


class Maps:
    def __init__(self, maps: Tensor) -> None:
        self.maps = maps

    def rows(self, index: Tensor) -> Tensor:
        return self.maps[index]


def mapped_stream() -> TaskStream:
    """Three tasks of two classes, 30 examples each, maps of 2 x 2 positions and 40 channels."""
    g = torch.Generator().manual_seed(0)
    n = 2 * T * PER_CLASS
    y = torch.arange(2 * T).repeat_interleave(PER_CLASS)
    centres = torch.randn(2 * T, K, generator=g)
    maps = (centres[y][:, None, None] + torch.randn(n, H, H, K, generator=g)).relu()
    x = maps.mean(dim=(1, 2))
    tasks = [torch.arange(2 * t * PER_CLASS, 2 * (t + 1) * PER_CLASS) for t in range(T)]
    classes = [[2 * t, 2 * t + 1] for t in range(T)]
    return TaskStream(
        x, y, tasks, x, y, tasks, classes, 2 * T, maps=Maps(maps), map_size=(H, H), name="toy"
    )


def made(memory: str, options: dict[str, Any] | None = None, /, **sharc: Any) -> MakeBuffer:
    kind = load("memory", memory)
    if issubclass(kind, Buffer):
        return kind
    given = kind.Options(**SMALL.get(memory, {}) | (options or {}))
    storage = parsed(StorageOptions, sharc, "sharc")
    buffer = import_class(storage.buffer)
    return partial(buffer, memory=kind, memory_options=given, sharc=storage)


def run(
    stream: TaskStream,
    method: str = "er",
    memory: str = "oracle",
    theta: float = 0.8,
    seeds: tuple[int, ...] = (0,),
    buffer: int = BUFFER,
    **sharc: Any,
) -> list[RunResult]:
    specs = [RunSpec(seed, buffer, theta) for seed in seeds]
    return train(
        stream, specs, load("method", method), {"learning_rate": 0.05}, made(memory, **sharc)
    )


def dense(stream: TaskStream, method: str = "er", buffer: int = BUFFER) -> RunResult:
    spec = RunSpec(0, buffer)
    return train(stream, [spec], load("method", method), {"learning_rate": 0.05}, DenseBuffer)[0]


def same(one: RunResult, other: RunResult) -> bool:
    pairs = zip(vars(one.accuracy).values(), vars(other.accuracy).values(), strict=True)
    return all(
        torch.equal(torch.tensor(a).nan_to_num(), torch.tensor(b).nan_to_num()) for a, b in pairs
    )
