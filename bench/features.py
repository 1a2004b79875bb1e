"""Images per second: the authors' way, a plain batched one, and ours, side by side in one run.

One thread on every side: with two, a busy machine makes eager torch wait for its own threads, and
a ratio of wall times would flatter us; a table of its own gives both sides all cores and says so.
The share of the matrix-product peak is the convolutions' FLOP per CPU second over that of a large
fp32 product measured in the same rounds.
"""

import json
import os
import statistics
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from bench.authors_features import AuthorsImages, authors_step, authors_way, network_of
from bench.section import Section, Size, Table
from bench.timing import Measure, Way, interleaved, ratio
from sharc.backbones.base import Backbone
from sharc.datasets.tensors import Array
from sharc.features.engines import Engine, OnnxEngine, TorchEngine, choose_engine, example
from sharc.features.folding import fold_batchnorm
from sharc.features.onnx_graph import to_onnx
from sharc.features.pipeline import Extractor
from sharc.registry import load

PLAIN_BATCH, OUR_BATCH = 64, 8
MATMUL = 2048


class Row(NamedTuple):
    """One way: images per CPU second, gain, share of the matrix-product peak."""

    images: Measure
    gain: Measure
    peak: Measure


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


def measure(
    name: str, size: int, side: int, count: int, rounds: int, threads: int
) -> tuple[int, float, str, dict[str, Row]]:
    """FLOP per image, matrix-product peak per core, our default way, and every way's speed."""
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
    square = torch.randn(MATMUL, MATMUL)
    ways: dict[str, Way] = {
        # their weights all require gradients; the second row is what a no_grad would give them
        "authors' way": authors_way(loaded, theirs),
        "authors' way, no gradients": authors_way(loaded, module),
        "authors' way, saliency too": authors_step(loaded, theirs),
        "plain batched eager": plain_way(extractor_of(backbone, module, side, size), images),
        "ours, torch engine": lambda: eager.features(images),
        "ours, onnx engine": lambda: onnx.features(images),
        ours: lambda: chosen.features(images),  # the line above again if that is the default
        "matmul": lambda: square @ square,
    }
    times = interleaved(ways, rounds)
    products = times.pop("matmul")
    peaks = [2 * MATMUL**3 / cpu for cpu in products.cpu]
    base = times["authors' way"]
    rows = {
        way: Row(
            Measure.of([count / cpu for cpu in spent.cpu]),
            ratio(base, spent),
            Measure.of([count * flop / c / p for c, p in zip(spent.cpu, peaks, strict=True)]),
        )
        for way, spent in times.items()
    }
    return flop, statistics.median(peaks), ours, rows


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
    cases = [("efficientnet_lite0", 128, 96), ("resnet18", 224, 32)]
    if size.name == "small":
        cases = [("efficientnet_lite0", 64, 32)]
    for name, pixels, count in cases:
        flop, peak, ours, rows = measure(name, pixels, 32, count, size.rounds, threads=1)
        table = Table(
            f"{name} at {pixels} px",
            ["way", "images per CPU second", "× authors' way", "% of matmul peak"],
            note=f"{flop / 1e9:.3g} GFLOP per image; a {MATMUL}² fp32 matrix product reached "
            f"{peak / 1e9:.0f} GFLOP/s per core in the same rounds.",
        )
        for way, row in rows.items():
            table.add(way, row.images, row.gain, row.peak.scaled(100))
            section.bars[f"{name}: {way}"] = row.images
        best = rows[ours]
        section.tables += [table, whole_machine(name, pixels, 32, count, size.rounds)]
        section.measures[f"features_vs_authors_{name}"] = best.gain
        saliency = rows["authors' way, saliency too"].gain.median
        section.measures[f"features_vs_authors_saliency_{name}"] = best.gain.scaled(1 / saliency)
        section.measures[f"features_percent_of_peak_{name}"] = best.peak.scaled(100)
    return section


def profiled_network(name: str, size: int, folder: Path, side: int = 32) -> list[dict[str, Any]]:
    """ONNX Runtime's events of a few passes of our network."""
    backbone: Backbone = load("backbone", name)()
    extractor = extractor_of(backbone, network_of(backbone, size), side, size)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "profile")
    graph = to_onnx(fold_batchnorm(extractor, example(side)), example(side))
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    for _ in range(5):
        session.run(None, {"images": np.zeros((OUR_BATCH, side, side, 3), dtype=np.uint8)})
    events: list[dict[str, Any]] = json.loads(Path(session.end_profiling()).read_text())
    return events
