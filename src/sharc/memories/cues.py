"""Sorting what is stored into groups whose samples share the channels they were kept by."""

import torch
from torch import Tensor

from sharc.memories.base import Cue, Shape

Rows = tuple[int, ...]


def by_mask(shape: Shape, cue: Tensor, kept: Tensor, labels: Tensor) -> dict[Rows, Cue]:
    """One Cue per distinct mask of `kept` [n, K], for cues [n, d]; keyed by its rows."""
    groups = {}
    _, group = torch.unique(kept, dim=0, return_inverse=True)
    for g in range(int(group.max()) + 1):
        rows = (group == g).nonzero().squeeze(1)
        maps = cue[rows].view(-1, *shape)
        groups[tuple(rows.tolist())] = gathered(maps, kept[rows], labels[rows], rows)
    return groups


def gathered(maps: Tensor, kept: Tensor, labels: Tensor, write_index: Tensor) -> Cue:
    """The Cue of maps [n, H·W, K] under masks [n, K]: shared channels first, then each its own."""
    index, n_shared = ordered_index(kept)
    padded = torch.cat([maps, maps.new_zeros(*maps.shape[:2], 1)], dim=2)
    where = index[:, None, :].expand(-1, maps.shape[1], -1)
    values = padded.gather(2, where).mT.contiguous()
    return Cue(index, values, n_shared, labels, write_index, kept.shape[1])


def ordered_index(kept: Tensor) -> tuple[Tensor, int]:
    """Kept channels [n, k] of masks [n, K], those of all rows first, and how many those are."""
    channels = kept.shape[1]
    common = kept.all(dim=0)
    # Sorting by (not common, not kept, channel) lines the channels up without a loop.
    rank = (~common).long() * 2 * channels + (~kept).long() * channels
    order = (rank + torch.arange(channels, device=kept.device)).argsort(dim=1)
    counts = kept.sum(dim=1, keepdim=True)
    width = int(counts.max())
    beyond = torch.arange(width, device=kept.device) >= counts
    return order[:, :width].masked_fill(beyond, channels), int(common.sum())


def segments(kept: Tensor, share: float) -> list[Tensor]:
    """Split rows of `kept` [n, K] in order, so that within each part at least `share` of every
    row's channels are common to the part.
    """
    parts: list[list[int]] = []
    common = kept[0]
    for row, mask in enumerate(kept):
        both = common & mask
        if parts and int(both.sum()) >= share * max(int(mask.sum()), *_sizes(kept, parts[-1])):
            parts[-1].append(row)
            common = both
        else:
            parts.append([row])
            common = mask
    return [torch.tensor(part, device=kept.device) for part in parts]


def _sizes(kept: Tensor, rows: list[int]) -> list[int]:
    return kept[rows].sum(dim=1).tolist()
