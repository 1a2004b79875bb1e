"""The generative rival of Figure 1: a convolutional autoencoder that paints what is missing."""

import torch
from torch import Tensor, nn


class Inpainter(nn.Module):
    """Image and mask of known pixels in, whole image out; about as many weights as requested."""

    def __init__(self, n_floats: int) -> None:
        super().__init__()
        width = min(range(1, 1000), key=lambda w: abs(weights_of(w) - n_floats))
        self.layers = nn.Sequential(
            nn.Conv2d(4, width, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(2 * width, width, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(width, 3, 3, padding=1),
        )

    def forward(self, image: Tensor, known: Tensor) -> Tensor:
        """image [n, 3, H, W], 0 where unknown; known [n, 1, H, W] bool; sides divisible by 4."""
        painted: Tensor = self.layers(torch.cat([image, known.to(image)], dim=1))
        return painted

    def n_floats(self) -> int:
        """Number of weights."""
        return sum(weight.numel() for weight in self.parameters())


def weights_of(width: int) -> int:
    """Weights of an inpainter of this width: five 3 x 3 layers and their biases."""
    sizes = [(4, width), (width, 2 * width), (2 * width, 2 * width), (2 * width, width), (width, 3)]
    return sum((9 * inputs + 1) * outputs for inputs, outputs in sizes)
