"""Modern Hopfield network (Ramsauer et al. 2021): attention over every stored map.

Its state is all written maps, dense: a replay buffer without compression, and counted so.
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from sharc.memories.base import AssociativeMemory, Cue, Recalled, Shape
from sharc.memories.cues import by_mask
from sharc.options.memories import ModernHopfieldOptions


class ModernHopfield(AssociativeMemory):
    """Blocks of maps, one per write, channel by channel: a cue's channels are whole rows."""

    Options = ModernHopfieldOptions
    options: ModernHopfieldOptions

    def reset(self) -> None:
        self._blocks: list[Tensor] = []  # each [K, H·W, n]
        self._pooled = self.zeros(0, self.shape.channels)  # [N, K]
        self._energy = self.zeros(0, self.shape.channels)  # [N, K] squared norm of a channel
        # Products of cues with maps, cached while a cue lives so that each is computed once: an
        # optimisation, not part of the method, hence in no ledger.
        self._products: WeakKeyDictionary[Cue, Tensor] = WeakKeyDictionary()

    def write(self, x: Tensor, labels: Tensor) -> None:
        maps = x.to(self.device, self.dtype).view(-1, *self.shape)
        self._blocks.append(maps.permute(2, 1, 0).contiguous())
        self._pooled = torch.cat([self._pooled, maps.mean(dim=1)])
        self._energy = torch.cat([self._energy, maps.square().sum(dim=1)])

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Average the stored maps, weighted by their similarity to the cue where it is known."""
        if not self._blocks:
            return cue
        out = torch.empty_like(cue, dtype=self.dtype)
        for rows, part in by_mask(self.shape, cue.to(self.dtype), kept, labels).items():
            out[list(rows)] = self._average(self._attention(part)).flatten(1)
        return out

    def recall_stored(self, cues: Sequence[Cue], n_probe: int) -> list[Recalled]:
        """Pooling commutes with averaging: the pooled answer is the average of pooled maps."""
        if not self._blocks:
            return super().recall_stored(cues, n_probe)
        found = [self._attention(cue) for cue in cues]
        probed = [weights[:n_probe] for weights in found]
        parts = self._average(torch.cat(probed)).split([len(w) for w in probed])
        return [Recalled(w @ self._pooled, part) for w, part in zip(found, parts, strict=True)]

    def _attention(self, cue: Cue) -> Tensor:
        """softmax(beta · standardised similarity) [n, N]; the similarity sees shared channels."""
        kept, values = cue.shared()
        product = self._product(cue, kept, values.to(self.dtype))
        energy = self._energy @ self._energy.new_zeros(self.shape.channels).index_fill(0, kept, 1)
        if self.options.metric == "euclid":
            product = 2 * product - energy
        elif self.options.metric == "cosine":
            product = product / energy.clamp_min(1e-12).sqrt()
        spread = product.std(dim=1, keepdim=True, correction=0).clamp_min(1e-12)
        score = (product - product.mean(dim=1, keepdim=True)) / spread
        return torch.softmax(self.options.beta * score, dim=1)

    def _product(self, cue: Cue, kept: Tensor, values: Tensor) -> Tensor:
        """Inner products [n, N] of the cue with every stored map over the kept channels."""
        known = self._products.get(cue, values.new_zeros(len(values), 0))
        parts, at = [known], 0
        for block in self._blocks:
            if at >= known.shape[1]:
                parts.append(values @ block[kept].flatten(0, 1))
            at += block.shape[2]
        self._products[cue] = torch.cat(parts, dim=1)
        return self._products[cue]

    def _average(self, weights: Tensor) -> Tensor:
        """Stored maps weighted by [n, N] -> [n, H·W, K]."""
        total = self.zeros(self.shape.size, len(weights))
        at = 0
        for block in self._blocks:
            total.addmm_(block.flatten(0, 1), weights[:, at : at + block.shape[2]].T)
            at += block.shape[2]
        return self.position_major(total.T.contiguous()).view(-1, *self.shape)

    def forget(self) -> None:
        """Drop the oldest maps."""
        if not self.options.forget_rate:
            return
        keep = len(self._pooled) - round(self.options.forget_rate * len(self._pooled))
        stored = torch.cat([self.zeros(*_first(self.shape)), *self._blocks], dim=2)
        self._blocks = [stored[:, :, stored.shape[2] - keep :].contiguous()] if keep else []
        self._pooled, self._energy = (
            part[len(part) - keep :] for part in (self._pooled, self._energy)
        )
        self._products.clear()

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        """Count a map, and per channel its mean and squared norm."""
        return shape.size + 2 * shape.channels

    def n_floats(self) -> dict[str, int]:
        """Every map, and per map and channel its mean and squared norm."""
        held = sum(block.numel() for block in self._blocks)
        return {"weights": held + self._pooled.numel() + self._energy.numel(), "prior": 0}


def _first(shape: Shape) -> tuple[int, int, int]:
    return shape.channels, shape.positions, 0
