"""A predictive coding network of two layers, x ~ N(relu(h) R, s²) and h ~ N(mu, s²), as a memory.

A write finds h for the maps, then a subclass learns R and mu from both. A recall finds h from
the kept entries; the others follow as relu(h) R.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from sharc.memories.base import AssociativeMemory, Cue, Recalled
from sharc.memories.cues import by_mask
from sharc.memories.predictive_coding.inference import (
    Posterior,
    ReadGrams,
    WriteGrams,
    infer_read,
    infer_write,
)
from sharc.memories.predictive_coding.joint_adam import Network, joint_read
from sharc.memories.predictive_coding.masked_gram import gram, masked_grams, masked_products
from sharc.options.memories import PredictiveCoding
from sharc.randomness import generator

EXACT = torch.float64  # of everything that is small; R itself is in the memory's dtype
GROUPS = 8  # groups of cues searched at once: they and their h x h matrices stay in the cache
AT_ONCE = 64  # maps in one joint search, whose moments are twice as large as they


class CodingNetwork(AssociativeMemory):
    """Weights R [K, H·W, h] and the mean mu [h]; copies of both, to which forgetting returns."""

    Options = PredictiveCoding
    options: PredictiveCoding

    def reset(self) -> None:
        """Draw R ~ N(0, 1/d) and mu ~ N(0, 1/h)."""
        self._random = generator(self.seed, "memory")
        hidden, size = self.options.hidden, self.shape.size
        channels, positions = self.shape.channels, self.shape.positions
        drawn = torch.randn(channels, positions, hidden, generator=self._random)
        self._r0 = (drawn / math.sqrt(size)).to(self.device, self.dtype)
        self._mu0 = self._draw(hidden) / math.sqrt(hidden)
        self._r, self._mu = self._r0.clone(), self._mu0.clone()

    def _draw(self, *size: int) -> Tensor:
        drawn = torch.randn(*size, generator=self._random, dtype=EXACT)
        return drawn.to(self.device)

    @property
    def noise(self) -> float:
        """s², the variance of both layers."""
        return self.options.sigma**2

    @abstractmethod
    def posterior(self) -> Posterior:
        """The state as the searches for h need it."""

    @abstractmethod
    def learn(self, h: Tensor, x: Tensor) -> None:
        """Update R and mu from hidden states h [B, h] and their maps x [B, d] (laid out K, H·W)."""

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Write `write_batch` maps at a time."""
        for maps in self.channel_major(x).split(self.options.write_batch):
            self._write(maps)

    def _write(self, x: Tensor) -> None:
        """Find h for x [B, d] (laid out K, H·W), then learn from both."""
        rows = self._r.flatten(0, 1)
        inner = WriteGrams(*(part.to(EXACT) for part in (x @ x.T, x @ rows, gram(rows))))
        start = self._draw(len(x), len(self._mu)) / math.sqrt(len(self._mu))
        o = self.options
        h = infer_write(start, inner, self.posterior(), o.steps, o.tolerance, o.learning_rate)
        self.learn(h, x)

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Search h from the kept entries; the others follow as z R."""
        if self.options.read == "joint_adam":
            return self._read_jointly(cue, kept)
        out = torch.empty_like(cue, dtype=self.dtype)
        groups = by_mask(self.shape, cue.to(self.dtype), kept, labels)
        for rows, z in zip(groups, self.latents(list(groups.values())), strict=True):
            out[list(rows)] = self.decode(z)
        return out

    def _read_jointly(self, cue: Tensor, kept: Tensor) -> Tensor:
        o = self.options
        network = Network(self._r.flatten(0, 1), self.posterior(), o.steps, o.learning_rate)
        parts = zip(self.channel_major(cue).split(AT_ONCE), kept.split(AT_ONCE), strict=True)
        recalled = [joint_read(network, maps, mask, self.seed) for maps, mask in parts]
        return self.position_major(torch.cat(recalled))

    def decode(self, z: Tensor) -> Tensor:
        """z R in the layout of maps, [n, h] -> [n, d]."""
        return self.position_major(z @ self._r.flatten(0, 1).T)

    def recall_stored(self, cues: Sequence[Cue], n_probe: int) -> list[Recalled]:
        """Pooling commutes with the decoder, so only z times the pooled R is needed."""
        if not cues:
            return []
        if self.options.read == "joint_adam":
            return self._recall_stored_jointly(cues, n_probe)
        pooled = self._r.mean(dim=1).T
        found = self.latents(cues)
        probed = [z[:n_probe] for z in found]
        maps = self.decode(torch.cat(probed)).view(-1, *self.shape)
        parts = maps.split([len(z) for z in probed])
        return [Recalled(z @ pooled, part) for z, part in zip(found, parts, strict=True)]

    def _recall_stored_jointly(self, cues: Sequence[Cue], n_probe: int) -> list[Recalled]:
        """All cues in one search: a step costs as much for two maps as for ten."""
        columns = zip(*((cue.dense(), cue.kept, cue.labels) for cue in cues), strict=True)
        maps = self.complete(*map(torch.cat, columns)).view(-1, *self.shape)
        parts = maps.split([len(cue.labels) for cue in cues])
        return [Recalled(part.mean(dim=1), part[:n_probe]) for part in parts]

    def latents(self, cues: Sequence[Cue]) -> list[Tensor]:
        """z [n, h] for each cue, from its shared channels."""
        posterior = self.posterior().to(self.dtype)
        parts = [cue.shared() for cue in cues]
        grams = masked_grams(self._r, [kept for kept, _ in parts])
        products = masked_products(self._r, parts)
        by_size = sorted(range(len(parts)), key=lambda i: len(parts[i][1]))
        latents: dict[int, Tensor] = {}
        for start in range(0, len(parts), GROUPS):  # groups of similar size need little padding
            block = by_size[start : start + GROUPS]
            padded = self._padded([(parts[i][1], products[i]) for i in block], grams[block])
            found = infer_read(
                padded, posterior, self.options.read_steps, self.options.read_tolerance
            )
            latents |= {i: z[: len(parts[i][1])] for i, z in zip(block, found, strict=True)}
        return [latents[i] for i in range(len(parts))]

    def _padded(self, parts: Sequence[tuple[Tensor, Tensor]], grams: Tensor) -> ReadGrams:
        """The inner products of cues with R, padded with empty cues to the largest group."""
        most = max(len(values) for values, _ in parts)
        xr = self.zeros(len(parts), most, len(self._mu))
        xx = self.zeros(len(parts), most)
        for g, (values, products) in enumerate(parts):
            xr[g, : len(values)] = products
            xx[g, : len(values)] = values.to(self.dtype).square().sum(dim=1)
        return ReadGrams(grams, xr, xx)
