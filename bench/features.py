"""Images per second: the authors' way, a plain batched one, and ours, side by side in one run.

One thread on every side: with two, a busy machine makes eager torch wait for its own threads, and
a ratio of wall times would flatter us. The share of the matrix-product peak is the convolutions'
FLOP per CPU second over that of a large fp32 product measured in the same rounds.
"""

import json
import statistics
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision import transforms

from bench.section import Section, Size, Table
from bench.timing import Measure, Way, interleaved, ratio
from sharc.backbones.base import Backbone
from sharc.datasets.tensors import Array
from sharc.features.engines import OnnxEngine, TorchEngine, example
from sharc.features.folding import fold_batchnorm
from sharc.features.onnx_graph import to_onnx
from sharc.features.pipeline import Extractor
from sharc.registry import load

AUTHORS_BATCH, PLAIN_BATCH, OUR_BATCH = 10, 64, 4
MATMUL = 2048


class Row(NamedTuple):
    """One way: images per CPU second, gain, share of the matrix-product peak."""

    images: Measure
    gain: Measure
    peak: Measure


def extractor_of(backbone: Backbone, module: nn.Module, side: int, size: int) -> Extractor:
    """Preprocessing and network in evaluation mode."""
    return Extractor(module, side, size).normalised_with(backbone.mean, backbone.std).eval()


def network_of(backbone: Backbone, size: int) -> nn.Module:
    """The pre-trained map part, or a random one where no weights can be had: equally fast."""
    try:
        return backbone.load(size)
    except Exception:  # any reason will do: only the time is measured here
        return backbone.map_of(backbone.architecture(size)).eval().requires_grad_(False)


class AuthorsImages(torch.utils.data.Dataset[Tensor]):
    """Images as the authors' loader gives them: cropped, flipped, normalised, then resized."""

    def __init__(self, backbone: Backbone, images: Array, size: int) -> None:
        self.images = images
        steps = [
            transforms.RandomCrop(images.shape[1], padding=4),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(backbone.mean, backbone.std),
            transforms.Resize((size, size), antialias=True),
        ]
        self.steps = transforms.Compose(steps)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, at: int) -> Tensor:
        image: Tensor = self.steps(Image.fromarray(self.images[at]))
        return image


def authors_way(images: AuthorsImages, module: nn.Module) -> Way:
    """Batches of ten through the eager network; whether it records gradients is its own matter."""
    loader = torch.utils.data.DataLoader(images, batch_size=AUTHORS_BATCH)

    def run() -> None:
        for batch in loader:
            module(batch)

    return run


def authors_step(images: AuthorsImages, module: nn.Module) -> Way:
    """A step as their code takes it: forward and backward for saliency, forward for the maps."""
    loader = torch.utils.data.DataLoader(images, batch_size=AUTHORS_BATCH)

    def run() -> None:
        for batch in loader:
            module(batch).mean((2, 3)).sum().backward()
            module.zero_grad()
            module(batch)

    return run


def plain_way(extractor: Extractor, images: Array) -> Way:
    """Eager network as it is, resize on the batch."""

    @torch.inference_mode()
    def run() -> None:
        for at in range(0, len(images), PLAIN_BATCH):
            extractor(torch.from_numpy(images[at : at + PLAIN_BATCH]))

    return run


def flop_per_image(module: nn.Module, size: int) -> int:
    """Multiplications and additions of one forward pass."""
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        module(torch.zeros(1, 3, size, size))
    return int(counter.get_total_flops())


def measure(
    name: str, size: int, side: int, count: int, rounds: int, threads: int
) -> tuple[int, float, dict[str, Row]]:
    """FLOP per image, matrix-product peak per core, and every way's speed."""
    torch.set_num_threads(threads)
    backbone: Backbone = load("backbone", name)()
    images = np.random.default_rng(0).integers(0, 256, (count, side, side, 3), dtype=np.uint8)
    module, theirs = network_of(backbone, size), network_of(backbone, size).requires_grad_(True)
    loaded = AuthorsImages(backbone, images, size)
    flop = flop_per_image(module, size)
    folded = fold_batchnorm(
        extractor_of(backbone, network_of(backbone, size), side, size), example(side)
    )
    onnx = OnnxEngine(folded, side, OUR_BATCH, threads)
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
    return flop, statistics.median(peaks), rows


def run(size: Size) -> Section:
    """The paper's backbone at its size, and that of the offline suite."""
    section = Section("features", "Feature extraction")
    cases = [("efficientnet_lite0", 128, 96), ("resnet18", 224, 32)]
    if size.name == "small":
        cases = [("efficientnet_lite0", 64, 32)]
    for name, pixels, count in cases:
        flop, peak, rows = measure(name, pixels, 32, count, size.rounds, threads=1)
        table = Table(
            f"{name} at {pixels} px",
            ["way", "images per CPU second", "× authors' way", "% of matmul peak"],
            note=f"{flop / 1e9:.3g} GFLOP per image; a {MATMUL}² fp32 matrix product reached "
            f"{peak / 1e9:.0f} GFLOP/s per core in the same rounds.",
        )
        for way, row in rows.items():
            table.add(way, row.images, row.gain, row.peak.scaled(100))
            section.bars[f"{name}: {way}"] = row.images
        best = rows["ours, onnx engine"]
        section.tables.append(table)
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
