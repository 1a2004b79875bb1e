"""Images per CPU second: the authors' way and ours, side by side, one thread on both sides.

The share of the matrix-product peak is the convolutions' FLOP per CPU second over those of the
fastest large fp32 product in any round of the run: a slow one would favour our numbers.
"""

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode
from torchvision import transforms

from bench.section import Section, Size
from bench.timing import Measure, Times, Way, interleaved, ratio, spent
from sharc.artifacts.arrays import Array
from sharc.backbones.base import Backbone
from sharc.features.engines import choose_engine
from sharc.features.pipeline import Extractor
from sharc.registry import load

AUTHORS_BATCH, OUR_BATCH, SIDE = 10, 8, 32
MATMUL, PRODUCTS = 2048, 3  # rows of a product, and how many in each round
CASES = {"efficientnet_lite0": (128, 64), "resnet18": (224, 16)}  # pixels, images
SMALL = {"efficientnet_lite0": (64, 32)}


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


def authors_way(images: AuthorsImages, module: nn.Module, saliency: bool) -> Way:
    """Batches of ten through the eager network: forward, and for saliency twice and backward."""
    loader = torch.utils.data.DataLoader(images, batch_size=AUTHORS_BATCH)

    def run() -> None:
        for batch in loader:
            if saliency:
                module(batch).mean((2, 3)).sum().backward()
                module.zero_grad()
            module(batch)

    return run


def flop_per_image(module: nn.Module, size: int) -> int:
    """Multiplications and additions of one forward pass."""
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        module(torch.zeros(1, 3, size, size))
    return int(counter.get_total_flops())


def best_product() -> float:
    """The fastest of a few."""
    square = torch.randn(MATMUL, MATMUL)
    return min(spent(lambda: square @ square) for _ in range(PRODUCTS))


def measure(name: str, size: int, count: int, rounds: int) -> dict[str, Times]:
    """Every way in every round, with one thread."""
    torch.set_num_threads(1)
    backbone: Backbone = load("backbone", name)()
    images = np.random.default_rng(0).integers(0, 256, (count, SIDE, SIDE, 3), dtype=np.uint8)
    theirs = network_of(backbone, size).requires_grad_(True)  # as in their code
    loaded = AuthorsImages(backbone, images, size)
    extractor = Extractor(network_of(backbone, size), SIDE, size)
    extractor = extractor.normalised_with(backbone.mean, backbone.std).eval()
    engine = choose_engine(extractor, SIDE, engine="auto", device="cpu", batch=OUR_BATCH, threads=1)
    ways: dict[str, Way] = {
        "authors": authors_way(loaded, theirs, saliency=False),
        "authors_saliency": authors_way(loaded, theirs, saliency=True),
        "ours": lambda: engine.features(images),
        "peak": best_product,
    }
    return interleaved(ways, rounds)


def run(size: Size) -> Section:
    """The paper's backbone at its size, and that of the offline suite."""
    section = Section()
    cases = SMALL if size.small else CASES
    found = {name: measure(name, *case, size.rounds) for name, case in cases.items()}
    peak = 2 * MATMUL**3 / min(min(times["peak"]) for times in found.values())
    for name, times in found.items():
        pixels, count = cases[name]
        flop = flop_per_image(network_of(load("backbone", name)(), pixels), pixels)
        shares = [100 * flop * count / cpu / peak for cpu in times["ours"]]
        share = Measure.of(*shares)
        section.measures[f"features_percent_of_peak_{name}"] = share
        for way in ("authors", "authors_saliency"):
            measured = f"features_vs_{way}_{name}"
            section.measures[measured] = ratio(times[way], times["ours"])
            section.profiles[measured] = f"ours runs at {share.median:.0f} % of the matmul peak"
    section.notes.append(
        f"The fastest of many {MATMUL}² fp32 matrix products reached {peak / 1e9:.0f} GFLOP/s on "
        "one core. The authors' way crops and flips as well."
    )
    return section
