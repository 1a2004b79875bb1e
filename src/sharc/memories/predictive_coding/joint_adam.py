"""The authors' read: Adam on the hidden state and on the map's free entries together."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from sharc.memories.predictive_coding.inference import Posterior
from sharc.randomness import generator

TILE = 1024  # entries of a map taken through a whole step at once: their weights stay in the cache


class Network(NamedTuple):
    """Weights R [d, h] (d laid out as K, H·W), posterior, and how Adam is run."""

    weights: Tensor
    posterior: Posterior
    steps: int
    rate: float


class _Entries:
    """Some entries of all maps: they see each other only through z."""

    def __init__(self, weights: Tensor, cue: Tensor, free: Tensor) -> None:
        """weights: [e, h], cue: [n, e], free: [n, e], 1 where an entry may move and 0 elsewhere."""
        self.weights, self.free = weights, free
        self.x = cue.clone()

    def look(self, z: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Set the slope of x; return |x - z R|² [n, 1] and (x - z R) Rᵀ [n, h].

        A kept entry's slope is 0, so Adam never moves it.
        """
        error = torch.addmm(self.x, z, self.weights.T, alpha=-1)
        self.x.grad = (error / v).mul_(self.free)
        return torch.linalg.vecdot(error, error).unsqueeze(1), error @ self.weights


def joint_read(network: Network, cue: Tensor, kept: Tensor, seed: int) -> Tensor:
    """Complete cues [n, d] under masks [n, K]; layout of d: K, H·W.

    F = d/2 log v + |x - z R|²/(2v) + |h - mu|²/(2 width), v = s² + z U zᵀ; throughout
    the kept entries stay as the cue has them.
    """
    weights, posterior = network.weights, network.posterior.to(cue.dtype)
    free = (~kept).to(cue).repeat_interleave(cue.shape[1] // kept.shape[1], dim=1)
    hidden = weights.shape[1]
    start = torch.randn(len(cue), hidden, generator=generator(seed, "memory", "read"))
    h = (start / math.sqrt(hidden)).to(cue)
    tiles = [
        _Entries(*parts)
        for parts in zip(
            weights.split(TILE), cue.split(TILE, dim=1), free.split(TILE, dim=1), strict=True
        )
    ]
    adam = torch.optim.Adam([h, *(tile.x for tile in tiles)], network.rate, fused=True)
    for _ in range(network.steps):
        z = h.clamp_min(0)
        zu = z @ posterior.u
        v = (zu * z).sum(dim=1, keepdim=True).clamp_min(0) + posterior.noise
        squares, back = (sum(found) for found in zip(*(t.look(z, v) for t in tiles), strict=True))
        slope = ((posterior.size - squares / v) * zu - back) / v
        h.grad = torch.where(h > 0, slope, 0) + (h - posterior.mu) / posterior.width
        adam.step()
    return torch.cat([tile.x for tile in tiles], dim=1)
