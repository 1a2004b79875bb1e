"""Which channels of a feature map matter for its class: saliency (Eq. 3) and mask (Eq. 4).

The head is linear on the pooled map, so the gradient of a class score with respect to a map is
the class's weight row divided by the number of positions: no backward pass is needed, and all
samples of a class share one mask between two updates of the head.
"""

import math

import torch
from torch import Tensor

from sharc.errors import UserError, unknown

RULES = ("abs_gt", "relu_ge")


def channel_saliency(weight: Tensor, positions: int) -> Tensor:
    """Eq. 3: the spatial mean of d score_c / d A^k for every class; [..., C, K] -> same shape.

    `positions` is H·W: the score sees the mean over positions, so each entry's gradient is
    W[c, k] / (H·W), and so is their mean.
    """
    return weight / positions


def _rank(channels: int, theta: float) -> float:
    """Where the theta-quantile lies among `channels` ordered values, counted from 0.

    Rounded, because in floating point 0.8·(K - 1) may miss the whole number it equals by a bit.
    """
    return round((channels - 1) * theta, 9)


def kept_count(channels: int, theta: float) -> int:
    """How many channels |a| > Q_theta keeps when no two saliencies are equal; at least one."""
    return max(1, channels - 1 - math.floor(_rank(channels, theta))) if theta else channels


def masks(saliency: Tensor, theta: float, rule: str = "abs_gt") -> Tensor:
    """Eq. 4: which channels are kept, bool [S, C, K] for saliency [S, C, K].

    abs_gt   |a| > Q_theta (the paper's rule); at theta = 1 the largest alone, by >=
    relu_ge  max(a, 0) >= Q_theta (the authors' code): where a share theta of the row is not
             positive the quantile is 0 and nothing is dropped
    """
    check(theta, rule)
    if theta == 0:
        return torch.ones_like(saliency, dtype=torch.bool)
    if rule == "relu_ge":
        positive = saliency.clamp_min(0)
        return positive >= quantile(positive, theta)
    size = saliency.abs()
    if _rank(size.shape[-1], theta) >= size.shape[-1] - 1:  # nothing lies above the largest
        return size >= quantile(size, 1.0)
    return size > _lower_neighbour(size, theta)


def check(theta: float, rule: str) -> None:
    """Refuse a theta outside [0, 1] and an unknown rule."""
    if not 0 <= theta <= 1:
        raise UserError(f"theta {theta} is not a share of channels: use a number from 0 to 1.")
    if rule not in RULES:
        raise UserError(unknown("saliency rule", rule, RULES))


def quantile(values: Tensor, theta: float) -> Tensor:
    """The linearly interpolated theta-quantile of the last dimension, which is kept as 1."""
    rank = _rank(values.shape[-1], theta)
    ordered = values.sort(dim=-1).values
    below, above = ordered[..., math.floor(rank), None], ordered[..., math.ceil(rank), None]
    return below + (above - below) * (rank - math.floor(rank))


def _lower_neighbour(size: Tensor, theta: float) -> Tensor:
    """The largest value not above the quantile: > it keeps what > the quantile keeps.

    Without the interpolation no rounding can swallow a channel.
    """
    rank = math.floor(_rank(size.shape[-1], theta))
    return size.sort(dim=-1).values[..., rank, None]
