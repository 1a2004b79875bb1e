"""Images per second: the authors' way, a plain batched one, and ours, side by side in one run.

    python bench/features.py --backbone efficientnet_lite0 --size 128 --rounds 5

Rounds are interleaved, so that a busy moment of the machine hits every way alike; medians are
shown, of wall time and of CPU time. The share of the matrix-product peak is the convolutions'
FLOP per CPU second over that of a large fp32 product measured in the same rounds.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision import transforms

from sharc.backbones.base import Backbone
from sharc.datasets.tensors import Array
from sharc.features.engines import OnnxEngine, TorchEngine, example
from sharc.features.folding import fold_batchnorm
from sharc.features.pipeline import Extractor
from sharc.registry import load

AUTHORS_BATCH, PLAIN_BATCH, OUR_BATCH = 10, 64, 4
MATMUL = 2048
Way = Callable[[], object]


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


def interleaved(ways: dict[str, Way], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """(wall, CPU) seconds of every way in every round, after one round to warm up."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, run in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            spent = (time.perf_counter() - wall, time.process_time() - cpu)
            if number:
                times[name].append(spent)
    return times


def measure(
    name: str, size: int, side: int, count: int, rounds: int, threads: int
) -> dict[str, Any]:
    """Images per second of every way and the share of the matrix-product peak."""
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
    peak = statistics.median(2 * MATMUL**3 / cpu for _, cpu in products)
    base = times["authors' way"]
    rows = {
        way: {
            "images_per_s": count / statistics.median(wall for wall, _ in spent),
            "images_per_cpu_s": count / statistics.median(cpu for _, cpu in spent),
            "speedup": statistics.median(a / b for (a, _), (b, _) in zip(base, spent, strict=True)),
            "share_of_peak": statistics.median(count * flop / cpu / peak for _, cpu in spent),
        }
        for way, spent in times.items()
    }
    return {
        "backbone": name,
        "size": size,
        "gflop_per_image": flop / 1e9,
        "peak_gflop_per_core": peak / 1e9,
        "ways": rows,
    }


def table(result: dict[str, Any]) -> str:
    """The measurement as Markdown."""
    lines = [
        f"{result['backbone']} at {result['size']} px: {result['gflop_per_image']:.3f} GFLOP per "
        f"image, matrix product {result['peak_gflop_per_core']:.0f} GFLOP/s per core",
        "",
        "| way | images/s | images per CPU second | × authors' way | % of matmul peak |",
        "|---|---|---|---|---|",
    ]
    for way, row in result["ways"].items():
        lines.append(
            f"| {way} | {row['images_per_s']:.0f} | {row['images_per_cpu_s']:.0f} "
            f"| {row['speedup']:.1f} | {100 * row['share_of_peak']:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backbone", dest="name", default="efficientnet_lite0")
    for name, value in (("size", 128), ("side", 32), ("count", 80), ("rounds", 5), ("threads", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    print(table(measure(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
