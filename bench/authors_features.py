"""The authors' way to features: an eager network on images prepared one at a time."""

import torch
from PIL import Image
from torch import Tensor, nn
from torchvision import transforms

from bench.timing import Way
from sharc.artifacts.arrays import Array
from sharc.backbones.base import Backbone

AUTHORS_BATCH = 10


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
