"""Associative memories: BayesPCN against a direct implementation, Hopfield reads, SHARC's cost.

The direct way takes Adam steps over the whole map, ten maps at a time, as the authors' code does:
on h to write, on h and the free entries together to read. Both ways write and read the same maps,
their errors side by side. As a program it measures the memories alone, in a process of its own so
that its peak memory is its own too: python -m bench.memory COUNT.
"""

import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bench.machine import ROOT, environment
from bench.section import Section, Size
from bench.streams import CIFAR10, OFFLINE, synthetic
from bench.streams import Shape as DataShape
from bench.timing import Measure, Way, interleaved, ratio, spent
from bench.training import BUFFER, OPTIONS, ours
from sharc.buffers.sharc import SharcBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.memories.base import Shape
from sharc.memories.bayes_pcn import BayesPCN
from sharc.memories.modern_hopfield import ModernHopfield
from sharc.memories.predictive_coding.inference import Posterior
from sharc.memories.predictive_coding.joint_adam import Network, joint_read
from sharc.registry import load
from sharc.trainer.train import train

POSITIONS, CHANNELS, HIDDEN, NOISE, THETA = 49, 512, 256, 1e-4, 0.8
BATCH = 10  # maps that the authors' code writes and reads together
SMALL = DataShape(features=256, side=4, train=20_000, test=500)
CASES = ((CIFAR10, "er", 1), (CIFAR10, "er_full", 1), (CIFAR10, "er_full", 5),
         (OFFLINE, "er_full", 1))  # fmt: skip
MEMORIES = ("modern_hopfield", "bayes_pcn")


def run(size: Size) -> Section:
    """The memory alone, then within training."""
    section = Section()
    command = [sys.executable, "-m", "bench.memory", "10" if size.small else "50"]
    alone = [
        json.loads(subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE,
                                  text=True, check=True).stdout)
        for _ in range(1 if size.small else 2)
    ]  # fmt: skip
    for name in alone[0]:
        section.measures[name] = Measure.of(*(found[name] for found in alone))
    with one_thread():
        for shape, method, seeds in ((SMALL, "er", 1),) if size.small else CASES:
            stream = synthetic(shape, maps=True)
            ways: dict[str, Way] = {"dense": partial(ours, method, stream, seeds)}
            shares: dict[str, list[float]] = {m: [] for m in MEMORIES}
            ways |= {m: partial(sharc, method, stream, m, seeds, shares[m]) for m in MEMORIES}
            times = interleaved(ways, 2, warm_up=False)
            for memory in MEMORIES:
                name = f"sharc_cost_{method}_{memory}_{shape.features}_{seeds}"
                section.measures[name] = ratio(times[memory], times["dense"])
                section.profiles[name] = f"{max(shares[memory]):.0f} % of it writes and recalls"
    section.notes.append(
        f"Maps of {POSITIONS} × {CHANNELS}, h = {HIDDEN}, θ = {THETA}, buffer {BUFFER} within "
        "training. Dense runs share their steps when stacked, memories are each run's own: hence "
        "the larger multiple with five seeds. Making the synthetic maps is not counted."
    )
    return section


def watched(memory: type) -> tuple[type, list[float]]:
    """The memory's class, and the CPU seconds of each call while it is in use."""
    calls: list[float] = []

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result: list[Any] = []
            calls.append(spent(lambda: result.append(method(*arguments))))
            return result[0]

        return call

    names = ("write", "recall_stored", "forget")
    return type(memory.__name__, (memory,), {n: timed(getattr(memory, n)) for n in names}), calls


def sharc(method: str, stream: TaskStream, memory: str, seeds: int, shares: list[float]) -> float:
    """Train a method with an associative buffer; making the synthetic maps is not counted.

    Of the seconds that it took, `shares` is given the percentage that the memory took.
    """
    maps: Any = stream.maps
    making = maps.seconds
    kind, calls = watched(load("memory", memory))
    make = partial(SharcBuffer, memory=kind)
    runs = [RunSpec(seed, BUFFER, THETA) for seed in range(seeds)]
    options = {"device": "cpu"} | OPTIONS.get(method, {})
    strategy = load("method", method.partition("_")[0])
    cpu = spent(lambda: train(stream, runs, strategy, options, make))
    cpu -= float(maps.seconds - making)
    shares.append(100 * sum(calls) / cpu)
    return cpu


def relu_maps(n: int) -> Tensor:
    """Synthetic maps [n, d]: 40 factors and noise, rectified, about 39 % not zero."""
    g = torch.Generator().manual_seed(0)
    size = POSITIONS * CHANNELS
    factors = torch.randn(n, 40, generator=g) @ torch.randn(40, size, generator=g)
    return (factors / math.sqrt(40) + 0.5 * torch.randn(n, size, generator=g) - 0.31).relu_()


def masks(n: int, classes: int = 20) -> Tensor:
    """Masks [n, K] that keep a share 1 - theta of the channels, one per class."""
    g = torch.Generator().manual_seed(1)
    draws = torch.rand(classes, CHANNELS, generator=g)
    kept = draws.argsort(dim=1).argsort(dim=1) < round((1 - THETA) * CHANNELS)
    return kept[torch.arange(n) % classes]


class Direct:
    """BayesPCN by autograd over whole maps, single precision."""

    def __init__(self) -> None:
        size = POSITIONS * CHANNELS
        self.g = torch.Generator().manual_seed(0)
        self.r = torch.randn(HIDDEN, size, generator=self.g) / math.sqrt(size)
        self.mu = torch.randn(HIDDEN, generator=self.g) / math.sqrt(HIDDEN)
        self.u, self.v = torch.eye(HIDDEN), 1.0

    def energy(self, h: Tensor, x: Tensor) -> Tensor:
        """F of a write, as its equation reads."""
        z = h.relu()
        error = x - z @ self.r
        cover = NOISE * torch.eye(len(x)) + z @ self.u @ z.T
        data = x.shape[1] / 2 * torch.logdet(cover)
        data = data + torch.trace(torch.linalg.solve(cover, error @ error.T)) / 2
        return data + (h - self.mu).square().sum() / (2 * (NOISE + self.v))

    def write(self, x: Tensor) -> None:
        """At most 500 Adam steps on h, then the conjugate update."""
        h = torch.randn(len(x), HIDDEN, generator=self.g) / math.sqrt(HIDDEN)
        h.requires_grad_()
        adam, last = torch.optim.Adam([h], lr=0.01), math.inf
        with torch.enable_grad():
            for _ in range(500):
                adam.zero_grad()
                energy = self.energy(h, x)
                if abs(last - float(energy.detach())) <= 1e-3:
                    break
                last = float(energy.detach())
                energy.backward()  # type: ignore[no-untyped-call]
                adam.step()
        z = h.detach().relu()
        cover = NOISE * torch.eye(len(x)) + z @ self.u @ z.T
        gain = torch.linalg.solve(cover.double(), (z @ self.u).double()).float().T
        self.r += gain @ (x - z @ self.r)
        self.u -= gain @ z @ self.u
        v = 1 / (1 / self.v + len(x) / NOISE)
        self.mu = v * (self.mu / self.v + h.detach().sum(0) / NOISE)
        self.v = v

    def read(self, x: Tensor, kept: Tensor) -> Tensor:
        """500 joint Adam steps on h and on the free entries."""
        beliefs = Posterior(self.u, self.mu, NOISE, NOISE + self.v, x.shape[1])
        rows = self.r.view(HIDDEN, POSITIONS, CHANNELS).permute(2, 1, 0).reshape(-1, HIDDEN)
        cue = (x * kept.repeat(1, POSITIONS)).view(-1, POSITIONS, CHANNELS).mT.flatten(1)
        found = joint_read(Network(rows, beliefs, 500, 0.01), cue, kept, 0)
        return found.view(-1, CHANNELS, POSITIONS).mT.flatten(1)


def direct(x: Tensor, kept: Tensor) -> tuple[float, float, float]:
    """CPU seconds of write and read of all of x, and the recall error."""
    memory = Direct()
    found: list[Tensor] = []

    def write() -> None:
        for maps in x.split(BATCH):
            memory.write(maps)

    def read() -> None:
        for maps, mask in zip(x.split(BATCH), kept.split(BATCH), strict=True):
            found.append(memory.read(maps, mask))

    return spent(write), spent(read), error(torch.cat(found), x, kept)


def stored(memory: Any, x: Tensor, kept: Tensor) -> tuple[float, float, float]:
    """The same by one of our memories; a thousand of x at most are read."""
    labels = torch.zeros(len(x), dtype=torch.long)
    found: list[Tensor] = []
    written = spent(lambda: memory.write(x, labels))
    x, kept, labels = x[:1000], kept[:1000], labels[:1000]
    read = spent(lambda: found.append(memory.recall(x, kept, labels)))
    return written, read, error(found[0], x, kept)


def error(recalled: Tensor, x: Tensor, kept: Tensor) -> float:
    """Mean squared error on the dropped entries."""
    free = ~kept.repeat(1, POSITIONS)
    return float((recalled - x)[free].square().mean())


def alone(count: int) -> dict[str, float]:
    """BayesPCN both ways on `count` maps, ours on a thousand, and reads of Hopfield networks."""
    shape = Shape(POSITIONS, CHANNELS)
    x, kept = relu_maps(count), masks(count)
    slow = direct(x, kept)
    fast = stored(BayesPCN(shape, BayesPCN.Options(hidden=HIDDEN)), x, kept)
    many = 20 * count
    stored(BayesPCN(shape, BayesPCN.Options(hidden=HIDDEN)), relu_maps(many), masks(many))
    measures = {
        "bayes_pcn_vs_direct": (slow[0] + slow[1]) / (fast[0] + fast[1]),
        "bayes_pcn_read_vs_direct": slow[1] / fast[1],
        "bayes_pcn_error_share": fast[2] / slow[2],
        "bayes_pcn_peak_gb": peak_gb(),
    }
    for n in (10 * count, 100 * count):
        read = stored(ModernHopfield(shape), relu_maps(n), masks(n))[1]
        measures[f"hopfield_ms_{n}"] = 1e3 * read / min(n, 1000)
    return measures


def peak_gb() -> float:
    """Of this process alone: what getrusage tells began with the memory of its parent."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1e6


if __name__ == "__main__":
    with torch.no_grad(), one_thread():
        print(json.dumps(alone(int(sys.argv[1]))))
