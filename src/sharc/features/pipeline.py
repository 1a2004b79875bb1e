"""From stored images to cached features: normalise, resize, backbone, pool.

The paper's preprocessing normalises first and then resizes bilinearly with antialiasing. Both are
linear, so a whole batch is resized by two small matrix products; the matrices are read off
`interpolate` itself, which makes them right by construction, also when an image shrinks.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

Constants = tuple[float, float, float]


def resize_matrix(native: int, size: int) -> Tensor:
    """The bilinear, antialiased resize of one axis as a matrix (size, native)."""
    unit = torch.eye(native, dtype=torch.float32)[None, None]
    rows = interpolate(unit, size=(size, native), mode="bilinear", antialias=True)
    return rows[0, 0].contiguous()


class Extractor(nn.Module):
    """Images uint8 (N, h, w, 3) -> pooled fp32 (N, K) and maps fp16 (N, H, W, K)."""

    matrix: Tensor
    mean: Tensor
    std: Tensor

    def __init__(self, backbone: nn.Module, native: int, size: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.register_buffer("matrix", resize_matrix(native, size))
        self.register_buffer("mean", torch.zeros(3, 1, 1))
        self.register_buffer("std", torch.ones(3, 1, 1))

    def normalised_with(self, mean: Constants, std: Constants) -> "Extractor":
        """Set the normalisation constants, which are those of pixels scaled to 0..1."""
        self.mean = torch.tensor(mean).view(3, 1, 1)
        self.std = torch.tensor(std).view(3, 1, 1)
        return self

    def prepared(self, images: Tensor) -> Tensor:
        """(N, h, w, 3) uint8 -> (N, 3, S, S) normalised and resized."""
        pixels = images.permute(0, 3, 1, 2).to(torch.float32) / 255
        pixels = (pixels - self.mean) / self.std
        return torch.matmul(torch.matmul(self.matrix, pixels), self.matrix.t())

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Pooled vectors and maps, the maps with their channels last as they are stored."""
        maps = self.backbone(self.prepared(images))
        return maps.mean(dim=(2, 3)), maps.permute(0, 2, 3, 1).to(torch.float16)
