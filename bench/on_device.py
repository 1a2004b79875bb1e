"""Head training on a device against the same on one core of the processor, by wall time."""

import time
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import torch

from bench.section import Size
from bench.streams import shape_of, synthetic
from bench.timing import Measure, Way, interleaved, number, ratio
from bench.training import BUFFER, BUFFERS, LABELS, SEEDS, ours
from sharc.engine.device import resolve_device


class Cell(NamedTuple):
    """What is trained: all its runs at once, as far as the device has room."""

    method: str
    classes: int = 10
    seeds: int = SEEDS
    buffers: tuple[int, ...] = (BUFFER,)

    def __str__(self) -> str:
        runs = self.seeds * len(self.buffers)
        return f"{LABELS[self.method]}, {self.classes} classes, {runs} runs"


CELLS = (
    Cell("er", buffers=BUFFERS),
    Cell("er", buffers=BUFFERS, seeds=5 * SEEDS),  # a GPU has room for more at once
    Cell("er", classes=100),
    Cell("derpp", buffers=BUFFERS),
    Cell("er_full"),
    Cell("gem"),  # waits for the device at every step
)


class Timing(NamedTuple):
    """Seconds on both, and how many times as fast the device is."""

    cell: Cell
    on_cpu: Measure
    on_device: Measure
    times_as_fast: Measure

    def __str__(self) -> str:
        seconds = f"{number(self.on_device.median)} s, {number(self.on_cpu.median)} s on one core"
        return f"{self.cell}: {self.times_as_fast} × as fast ({seconds})"

    def json(self) -> dict[str, Any]:
        """For a file that is sent."""
        measures = {name: asdict(value) for name, value in self._asdict().items() if name != "cell"}
        return {"cell": str(self.cell), **measures}


def measure(cell: Cell, device: str, size: Size) -> Timing:
    """Whole runs, with the copy to the device and evaluation; a first round warms both up."""
    stream = synthetic(shape_of(cell.classes), size.share)
    given = (cell.method, stream, cell.seeds, cell.buffers)
    ways = {
        side: timed(partial(ours, *given, device=name), name)
        for side, name in (("cpu", "cpu"), ("device", device))
    }
    times = interleaved(ways, size.rounds)
    cpu, there = times["cpu"], times["device"]
    return Timing(cell, Measure.of(*cpu), Measure.of(*there), ratio(cpu, there))


def timed(train: Way, device: str) -> Way:
    """The same, returning its wall seconds, counted until the device is done."""

    def run() -> float:
        wait(device)
        start = time.perf_counter()
        train()
        wait(device)
        return time.perf_counter() - start

    return run


def wait(device: str) -> None:
    """Until the device has done everything it was given: its kernels run in order."""
    torch.zeros((), device=resolve_device(device)).item()
