"""Ways to lose a part of an image; each says which pixels are still known."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

SHARES = (0.25, 0.5, 0.75)
LEVELS: dict[str, tuple[float, ...]] = {
    "salient": (*SHARES, 0.9),  # the share of least salient pixels dropped, as in the figure
    "block": SHARES,  # the share of the area under one square block
    "dropout": SHARES,  # the share of pixels dropped at random
    "noise": (0.2, 0.4, 0.8),  # the standard deviation; images lie in [-1, 1]
}


class Query(NamedTuple):
    """Corrupted images [n, 3, H, W], 0 where unknown, and known pixels [n, 1, H, W] bool."""

    image: Tensor
    known: Tensor  # all true for noise: every pixel is there, none is right


def corrupt(name: str, level: float, images: Tensor, random: torch.Generator) -> Query:
    """Corrupt images [n, 3, H, W] in [-1, 1]."""
    if name == "noise":
        noise = torch.randn(images.shape, generator=random).to(images)
        return Query(images + level * noise, torch.ones_like(images[:, :1], dtype=torch.bool))
    known = MASKS[name](images, level, random)
    return Query(torch.where(known, images, 0), known)


def salient(images: Tensor, share: float, random: torch.Generator) -> Tensor:
    """Known where a pixel differs most from its neighbourhood: contrast as saliency."""
    around = functional.avg_pool2d(images, 3, stride=1, padding=1, count_include_pad=False)
    contrast = (images - around).abs().sum(dim=1, keepdim=True)
    return _keep_top(contrast, share)


def dropout(images: Tensor, share: float, random: torch.Generator) -> Tensor:
    """Known at random."""
    return _keep_top(torch.rand(images[:, :1].shape, generator=random).to(images), share)


def block(images: Tensor, share: float, random: torch.Generator) -> Tensor:
    """Unknown in a square of about this share of the area, anywhere in the image."""
    n, _, height, width = images.shape
    size = round((share * height * width) ** 0.5)
    free = torch.tensor([height - size + 1, width - size + 1])
    corner = (torch.rand(n, 2, generator=random) * free).long()
    row = torch.arange(height)[None, :] - corner[:, :1]
    column = torch.arange(width)[None, :] - corner[:, 1:]
    inside = ((row >= 0) & (row < size))[:, :, None] & ((column >= 0) & (column < size))[:, None]
    known: Tensor = ~inside[:, None].to(images.device)
    return known


MASKS: dict[str, Callable[[Tensor, float, torch.Generator], Tensor]] = {
    "salient": salient,
    "block": block,
    "dropout": dropout,
}


def _keep_top(score: Tensor, dropped: float) -> Tensor:
    """True for the pixels of highest score [n, 1, H, W] but for a share `dropped`."""
    flat = score.flatten(1)
    count = flat.shape[1] - round(dropped * flat.shape[1])
    kept = torch.zeros_like(flat, dtype=torch.bool)
    return kept.scatter(1, flat.topk(count, dim=1).indices, True).view_as(score)
