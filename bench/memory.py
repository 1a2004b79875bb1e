"""Associative memories: BayesPCN against a direct implementation, Hopfield reads against size.

Run: python -m bench.memory [--small]

The direct way takes Adam steps over the whole map, ten maps at a time, as the authors' code does:
on h to write, on h and the free entries together to read. It is measured on one batch and
its cost per map is extrapolated; bench.thousand takes the half hour that a thousand maps need.
`ratio_same_ten` is like for like: the same ten maps, their errors side by side.
`ratio_per_map_extrapolated` is not: ours holds `count` maps in 256 units and recalls them worse
than either way recalls ten.
"""

import argparse
import json
import math
import resource
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sharc.engine.device import one_thread
from sharc.memories.base import Shape
from sharc.memories.bayes_pcn import BayesPCN
from sharc.memories.modern_hopfield import ModernHopfield
from sharc.memories.predictive_coding.inference import Posterior
from sharc.memories.predictive_coding.joint_adam import Network, joint_read

POSITIONS, CHANNELS, HIDDEN, NOISE, THETA = 49, 512, 256, 1e-4, 0.8


def relu_maps(n: int, seed: int = 0) -> Tensor:
    """Synthetic maps [n, d]: 40 factors and noise, rectified, about 39 % not zero."""
    g = torch.Generator().manual_seed(seed)
    size = POSITIONS * CHANNELS
    factors = torch.randn(n, 40, generator=g) @ torch.randn(40, size, generator=g)
    return (factors / math.sqrt(40) + 0.5 * torch.randn(n, size, generator=g) - 0.31).relu_()


def masks(n: int, classes: int) -> Tensor:
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


def timed(work: Any) -> tuple[float, Any]:
    """CPU seconds of a call and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def error(recalled: Tensor, x: Tensor, kept: Tensor) -> float:
    """Mean squared error on the dropped entries."""
    free = ~kept.repeat(1, POSITIONS)
    return float((recalled - x)[free].square().mean())


def ours(x: Tensor, kept: Tensor) -> tuple[float, float, float]:
    """CPU seconds of write and read of all of x by BayesPCN, and the recall error."""
    memory = BayesPCN(Shape(POSITIONS, CHANNELS), BayesPCN.Options(hidden=HIDDEN))
    labels = torch.zeros(len(x), dtype=torch.long)
    write, _ = timed(lambda: memory.write(x, labels))
    read, found = timed(lambda: memory.recall(x, kept, labels))
    return write, read, error(found, x, kept)


def bayes_pcn(count: int) -> dict[str, Any]:
    """Both ways on ten maps, ours on `count`; seconds per map and their ratio."""
    few, kept_few = relu_maps(10), masks(10, 5)
    direct = Direct()
    write, _ = timed(lambda: direct.write(few))
    read, found = timed(lambda: direct.read(few, kept_few))
    many, kept = relu_maps(count), masks(count, 20)
    our_write, our_read, our_error = ours(many, kept)
    ten = ours(few, kept_few)
    return {
        "maps": count,
        "direct": {
            "write_s": write,
            "read_s": read,
            "maps": 10,
            "mse": error(found, few, kept_few),
        },
        "ours_ten": {"write_s": ten[0], "read_s": ten[1], "maps": 10, "mse": ten[2]},
        "ours": {"write_s": our_write, "read_s": our_read, "maps": count, "mse": our_error},
        "zero_fill_mse": error(torch.zeros_like(many), many, kept),
        "ratio_same_ten": (write + read) / (ten[0] + ten[1]),
        "ratio_per_map_extrapolated": (write + read) / 10 / ((our_write + our_read) / count),
        "peak_gb": peak_gb(),
    }


def peak_gb() -> float:
    """Of this process alone: what getrusage tells began with the memory of its parent."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1e6


def hopfield(count: int) -> dict[str, Any]:
    """A batched read of stored maps, a thousand at most of `count`."""
    x, kept = relu_maps(count), masks(count, 20)
    memory = ModernHopfield(Shape(POSITIONS, CHANNELS))
    labels = torch.zeros(len(x), dtype=torch.long)
    memory.write(x, labels)
    x, kept, labels = x[:1000], kept[:1000], labels[:1000]
    spent, found = timed(lambda: memory.recall(x, kept, labels))
    return {"stored": count, "ms_per_query": 1e3 * spent / len(x), "mse": error(found, x, kept)}


def main() -> None:
    """Print one JSON line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="fewer maps, for a quick look")
    small = parser.parse_args().small
    torch.set_flush_denormal(True)
    with torch.no_grad(), one_thread():
        print(json.dumps(bayes_pcn(100 if small else 1000)), flush=True)
        for count in (100, 300) if small else (100, 1000, 5000):
            print(json.dumps(hopfield(count)), flush=True)


if __name__ == "__main__":
    main()
