"""Inner products of weight rows over the channels that a cue keeps, for many masks at once."""

import torch
from torch import Tensor

# Below this many masks the product is formed mask by mask: the shared products per channel pay
# off from about a dozen masks on (measured at h = 256, K = 1280, 4 x 4 positions).
FEW = 12
ROWS = 8  # rows of the h x h products formed at once; keeps them in the cache
STRIP = 64  # rows of a lone h x h product formed at once; half of it is its own mirror image


def gram(rows: Tensor) -> Tensor:
    """Rᵀ R [h, h] of rows [n, h]: upper triangle strip by strip, then mirrored."""
    hidden = rows.shape[1]
    out = rows.new_empty(hidden, hidden)
    for low in range(0, hidden, STRIP):
        high = min(low + STRIP, hidden)
        out[low:high, low:] = rows[:, low:high].T @ rows[:, low:]
        out[high:, low:high] = out[low:high, high:].T
    return out


def masked_grams(weights: Tensor, channels: list[Tensor]) -> Tensor:
    """R_M R_Mᵀ [g, h, h] for weights [K, H·W, h] and the kept channels [c] of each group."""
    if len(channels) <= FEW:
        return torch.stack([gram(weights[kept].flatten(0, 1)) for kept in channels])
    masks = weights.new_zeros(len(channels), len(weights))
    for mask, kept in zip(masks, channels, strict=True):
        mask[kept] = 1
    return _summed_grams(weights, masks)


def _summed_grams(weights: Tensor, masks: Tensor) -> Tensor:
    """Sum the channels' own h x h products under each mask; upper triangle, then mirrored."""
    channels, _, hidden = weights.shape
    out = weights.new_zeros(len(masks), hidden, hidden)
    for low in range(0, hidden, ROWS):
        high = min(low + ROWS, hidden)
        products = weights[:, :, low:high].mT @ weights[:, :, low:]
        summed = masks @ products.reshape(channels, -1)
        out[:, low:high, low:] = summed.view(len(masks), high - low, hidden - low)
        out[:, low:, low:high] = out[:, low:high, low:].mT
    return out
