"""The authors' read: Adam on the hidden state and on the map's free entries together."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from sharc.memories.latents import Adam, Beliefs
from sharc.randomness import generator


class Network(NamedTuple):
    """Weights R [d, h] (d laid out as K, H·W), beliefs, and how Adam is run."""

    weights: Tensor
    beliefs: Beliefs
    steps: int
    rate: float


def joint_read(network: Network, cue: Tensor, kept: Tensor, seed: int) -> Tensor:
    """Complete cues [n, d] under masks [n, K]; layout of d: K, H·W.

    F = d/2 log v + |x - z R|²/(2v) + |h - mu|²/(2 width), v = s² + z U zᵀ; after every step
    the kept entries are set back to the cue.
    """
    weights, beliefs = network.weights, network.beliefs.to(cue.dtype)
    fixed = kept.repeat_interleave(cue.shape[1] // kept.shape[1], dim=1)
    hidden = weights.shape[1]
    start = torch.randn(len(cue), hidden, generator=generator(seed, "memory", "read"))
    h, x = (start / math.sqrt(hidden)).to(cue), cue
    adam_h, adam_x = Adam(h, network.rate), Adam(x, network.rate)
    for _ in range(network.steps):
        z = h.clamp_min(0)
        zu = z @ beliefs.u
        v = (zu * z).sum(dim=1, keepdim=True).clamp_min(0) + beliefs.noise
        error = x - z @ weights.T
        ratio = error.square().sum(dim=1, keepdim=True) / v
        slope = ((beliefs.size - ratio) * zu - error @ weights) / v
        h = adam_h.step(h, torch.where(h > 0, slope, 0) + (h - beliefs.mu) / beliefs.width)
        x = torch.where(fixed, cue, adam_x.step(x, error / v))
    return x
