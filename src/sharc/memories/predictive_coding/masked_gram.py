"""Inner products of weight rows over the channels that a cue keeps, for many masks at once."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

# Below this many masks the product is formed mask by mask: the shared products per channel pay
# off from about a dozen masks on (measured at h = 256, K = 1280, 4 x 4 positions).
FEW = 12
ROWS, CHANNELS = 32, 128  # of the h x h products formed at once; keeps them in the cache
SPARE = 32  # dropped channels, over all samples, whose products cost as much as copying a kept one
MAPS = 256  # whole maps at once: 20 MB of 1280 channels and 4 x 4 positions
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
    hidden = weights.shape[2]
    out = weights.new_zeros(len(masks), hidden, hidden)
    for low in range(0, hidden, ROWS):
        high = min(low + ROWS, hidden)
        summed = weights.new_zeros(len(masks), (high - low) * (hidden - low))
        for part, mask in zip(weights.split(CHANNELS), masks.split(CHANNELS, dim=1), strict=True):
            products = part[:, :, low:high].mT @ part[:, :, low:]
            summed.addmm_(mask, products.flatten(1))
        out[:, low:high, low:] = summed.view(len(masks), high - low, hidden - low)
        out[:, high:, low:high] = out[:, low:high, high:].mT
    return out


def masked_products(weights: Tensor, parts: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """x_M R_Mᵀ [n, h] for weights [K, H·W, h] and each group's kept channels [c] and values.

    Copying a group's rows of R costs more than its few samples' products do: such groups are
    multiplied with the whole of R, zeros in place of what is not kept.
    """
    found: dict[int, Tensor] = {}
    thin: list[int] = []
    for i, (kept, values) in enumerate(parts):
        if len(values) * (len(weights) - len(kept)) < SPARE * len(kept):
            thin.append(i)
        else:
            found[i] = values.to(weights) @ weights[kept].flatten(0, 1)
    for block in _blocks(thin, [len(values) for _, values in parts]):
        counts = [len(parts[i][1]) for i in block]
        maps = weights.new_zeros(sum(counts), *weights.shape[:2])
        for i, rows in zip(block, maps.split(counts), strict=True):
            kept, values = parts[i]
            rows[:, kept] = values.to(weights).view(len(values), len(kept), -1)
        products = maps.flatten(1) @ weights.flatten(0, 1)
        found |= zip(block, products.split(counts), strict=True)
    return [found[i] for i in range(len(parts))]


def _blocks(indices: Sequence[int], counts: Sequence[int]) -> Iterator[list[int]]:
    """Consecutive indices that together have no more than MAPS samples, or one index."""
    block: list[int] = []
    for i in indices:
        if block and sum(counts[j] for j in [*block, i]) > MAPS:
            yield block
            block = []
        block.append(i)
    if block:
        yield block
