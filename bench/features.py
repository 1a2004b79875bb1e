"""Images per second: the authors' way, a plain batched one, and ours, side by side in one run.

One thread on every side: with two, a busy machine makes eager torch wait for its own threads, and
a ratio of wall times would flatter us; a table of its own gives both sides all cores and says so.
The share of the matrix-product peak is the convolutions' FLOP per CPU second over those of the
fastest large fp32 product in any round of the run: a slow one would flatter us.
"""

import os
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from bench.authors_features import AuthorsImages, authors_step, authors_way, network_of
from bench.section import Section, Size, Table
from bench.timing import Measure, Spent, Times, Way, interleaved, ratio
from sharc.artifacts.arrays import Array
from sharc.backbones.base import Backbone
from sharc.features.engines import Engine, OnnxEngine, TorchEngine, choose_engine, example
from sharc.features.folding import fold_batchnorm
from sharc.features.pipeline import Extractor
from sharc.registry import load

PLAIN_BATCH, OUR_BATCH = 64, 8
MATMUL, PRODUCTS = 2048, 3  # rows of a product, and how many in each round
CASES = {"efficientnet_lite0": (128, 64), "resnet18": (224, 16)}  # pixels, images
SMALL = {"efficientnet_lite0": (64, 32)}


@dataclass(frozen=True)
class Found:
    """Seconds of every way in every round, the fastest product, and which way is our default."""

    count: int  # images
    flop: int  # per image
    peak: float  # FLOP per CPU second and core
    ours: str
    times: dict[str, Times]

    def images(self, way: str) -> Measure:
        """Images per CPU second."""
        return Measure.of([self.count / cpu for cpu in self.times[way].cpu])

    def gain(self, way: str, over: str = "authors' way") -> Measure:
        """How many times as fast as another way."""
        return ratio(self.times[over], self.times[way])


def random_images(count: int, side: int) -> Array:
    """Noise: only the time is measured here."""
    return np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def extractor_of(backbone: Backbone, module: nn.Module, side: int, size: int) -> Extractor:
    """Preprocessing and network in evaluation mode."""
    return Extractor(module, side, size).normalised_with(backbone.mean, backbone.std).eval()


def plain_way(extractor: Extractor, images: Array) -> Way:
    """Eager network as it is, resize on the batch."""

    @torch.inference_mode()
    def run() -> None:
        for at in range(0, len(images), PLAIN_BATCH):
            extractor(torch.from_numpy(images[at : at + PLAIN_BATCH]))

    return run


def chosen_engine(backbone: Backbone, side: int, size: int, threads: int) -> Engine:
    """The engine that `auto` takes for this network."""
    extractor = extractor_of(backbone, network_of(backbone, size), side, size)
    return choose_engine(
        extractor, side, engine="auto", device="cpu", batch=OUR_BATCH, threads=threads
    )


def flop_per_image(module: nn.Module, size: int) -> int:
    """Multiplications and additions of one forward pass."""
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        module(torch.zeros(1, 3, size, size))
    return int(counter.get_total_flops())


def best_product() -> Spent:
    """The fastest of a few."""
    square = torch.randn(MATMUL, MATMUL)
    spent = []
    for _ in range(PRODUCTS):
        start = time.process_time()
        square @ square
        spent.append(time.process_time() - start)
    return Spent(min(spent), min(spent))


def measure(name: str, size: int, side: int, count: int, rounds: int) -> Found:
    """Every way in every round, with one thread."""
    threads = 1
    torch.set_num_threads(threads)
    backbone: Backbone = load("backbone", name)()
    images = random_images(count, side)
    module, theirs = network_of(backbone, size), network_of(backbone, size).requires_grad_(True)
    loaded = AuthorsImages(backbone, images, size)
    flop = flop_per_image(module, size)
    folded = fold_batchnorm(
        extractor_of(backbone, network_of(backbone, size), side, size), example(side)
    )
    onnx = OnnxEngine(folded, side, OUR_BATCH, threads)
    chosen = chosen_engine(backbone, side, size, threads)
    ours = f"ours, {chosen.name} engine"
    eager = TorchEngine(folded, "cpu", 32, threads)
    ways: dict[str, Way] = {
        # their weights all require gradients; the second row is what a no_grad would give them
        "authors' way": authors_way(loaded, theirs),
        "authors' way, no gradients": authors_way(loaded, module),
        "authors' way, saliency too": authors_step(loaded, theirs),
        "plain batched eager": plain_way(extractor_of(backbone, module, side, size), images),
        "ours, torch engine": lambda: eager.features(images),
        "ours, onnx engine": lambda: onnx.features(images),
        ours: lambda: chosen.features(images),  # the line above again if that is the default
        "matmul": best_product,
    }
    times = interleaved(ways, rounds)
    peak = 2 * MATMUL**3 / min(times.pop("matmul").cpu)
    return Found(count, flop, peak, ours, times)


def whole_machine(name: str, size: int, side: int, count: int, rounds: int) -> Table:
    """Wall time with all cores: torch's own threads on their side, a worker per core on ours."""
    cores = os.cpu_count() or 1
    backbone: Backbone = load("backbone", name)()
    images = random_images(count, side)
    theirs = network_of(backbone, size).requires_grad_(True)
    engine = chosen_engine(backbone, side, size, cores)
    before = torch.get_num_threads()
    torch.set_num_threads(cores)
    try:
        times = interleaved(
            {
                "authors' way": authors_way(AuthorsImages(backbone, images, size), theirs),
                f"ours, {engine.name} engine": lambda: engine.features(images),
            },
            rounds,
        )
    finally:
        torch.set_num_threads(before)
    table = Table(
        f"{name} at {size} px, all {cores} cores on both sides",
        ["way", "images per second (wall)", "× authors' way (wall)"],
        note="Wall time: other work slows both sides, and eager torch waits for its own threads.",
    )
    for way, spent in times.items():
        speed = Measure.of([count / wall for wall in spent.wall])
        table.add(way, speed, ratio(times["authors' way"], spent, wall=True))
    return table


def run(size: Size) -> Section:
    """The paper's backbone at its size, and that of the offline suite."""
    section = Section("features", "Feature extraction")
    cases = SMALL if size.name == "small" else CASES
    measured = {
        name: measure(name, pixels, 32, count, size.rounds)
        for name, (pixels, count) in cases.items()
    }
    peak = max(found.peak for found in measured.values())
    for name, found in measured.items():
        pixels, count = cases[name]
        table = Table(
            f"{name} at {pixels} px",
            ["way", "images per CPU second", "× authors' way", "% of matmul peak"],
            note=f"{found.flop / 1e9:.3g} GFLOP per image; the fastest of many {MATMUL}² fp32 "
            f"matrix products in this part reached {peak / 1e9:.0f} GFLOP/s on one core. The "
            "authors' way crops and flips as well.",
        )
        share = 100 * found.flop / peak
        for way in found.times:
            images = found.images(way)
            table.add(way, images, found.gain(way), images.scaled(share))
        section.tables += [table, whole_machine(name, pixels, 32, count, size.rounds)]
        section.measures |= {
            f"features_vs_authors_{name}": found.gain(found.ours),
            f"features_vs_authors_saliency_{name}": found.gain(
                found.ours, over="authors' way, saliency too"
            ),
            f"features_percent_of_peak_{name}": found.images(found.ours).scaled(share),
        }
    return section
