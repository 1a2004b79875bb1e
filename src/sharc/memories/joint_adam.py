"""The authors' read: Adam on the hidden state and on the map's free entries together."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from sharc.memories.latents import Adam, Beliefs
from sharc.randomness import generator

TILE = 1024  # entries of a map taken through a whole step at once: their weights stay in the cache


class Network(NamedTuple):
    """Weights R [d, h] (d laid out as K, H·W), beliefs, and how Adam is run."""

    weights: Tensor
    beliefs: Beliefs
    steps: int
    rate: float


class _Entries:
    """Some entries of all maps: they see each other only through z."""

    def __init__(self, weights: Tensor, cue: Tensor, fixed: Tensor, rate: float) -> None:
        self.weights, self.cue, self.fixed = weights, cue, fixed
        self.x, self.adam = cue, Adam(cue, rate)

    def step(self, z: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Move x; |x - z R|² [n, 1] and (x - z R) Rᵀ [n, h] of before."""
        error = torch.addmm(self.x, z, self.weights.T, alpha=-1)
        moved = self.adam.step(self.x, error / v)
        self.x = torch.where(self.fixed, self.cue, moved)
        return error.square().sum(dim=1, keepdim=True), error @ self.weights


def joint_read(network: Network, cue: Tensor, kept: Tensor, seed: int) -> Tensor:
    """Complete cues [n, d] under masks [n, K]; layout of d: K, H·W.

    F = d/2 log v + |x - z R|²/(2v) + |h - mu|²/(2 width), v = s² + z U zᵀ; after every step
    the kept entries are set back to the cue.
    """
    weights, beliefs = network.weights, network.beliefs.to(cue.dtype)
    fixed = kept.repeat_interleave(cue.shape[1] // kept.shape[1], dim=1)
    hidden = weights.shape[1]
    start = torch.randn(len(cue), hidden, generator=generator(seed, "memory", "read"))
    h = (start / math.sqrt(hidden)).to(cue)
    adam = Adam(h, network.rate)
    tiles = [
        _Entries(part, cue[:, at : at + TILE], fixed[:, at : at + TILE], network.rate)
        for at, part in zip(range(0, len(weights), TILE), weights.split(TILE), strict=True)
    ]
    for _ in range(network.steps):
        z = h.clamp_min(0)
        zu = z @ beliefs.u
        v = (zu * z).sum(dim=1, keepdim=True).clamp_min(0) + beliefs.noise
        squares, back = (sum(found) for found in zip(*(t.step(z, v) for t in tiles), strict=True))
        slope = ((beliefs.size - squares / v) * zu - back) / v
        h = adam.step(h, torch.where(h > 0, slope, 0) + (h - beliefs.mu) / beliefs.width)
    return torch.cat([tile.x for tile in tiles], dim=1)
