"""Modern Hopfield network (Ramsauer et al. 2021): attention over every stored map.

Its state is all written maps, dense: a replay buffer without compression, and counted so.
"""

from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from sharc.errors import UserError, unknown
from sharc.memories.base import Cue, Memory, Recalled, Shape, Trace
from sharc.memories.cues import by_mask

METRICS = ("dot", "euclid", "cosine")


class ModernHopfieldTrace(Trace):
    """Blocks of maps, one per write, channel by channel: a cue's channels are whole rows."""

    defaults: ClassVar[dict[str, Any]] = {"metric": "euclid", "beta": 100.0}

    def reset(self) -> None:
        """No map stored."""
        metric = str(self.options["metric"])
        if metric not in METRICS:
            raise UserError(unknown("metric of memory modern_hopfield", metric, METRICS))
        self._blocks: list[Tensor] = []  # each [K, H·W, n]
        self._pooled = self.empty(0, self.shape.channels)  # [N, K]
        self._energy = self.empty(0, self.shape.channels)  # [N, K] squared norm of a channel
        # Products of cues with maps, kept while a cue lives so that each is formed once: a
        # convenience of speed, not of the method, hence in no ledger.
        self._products: WeakKeyDictionary[Cue, Tensor] = WeakKeyDictionary()

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Store the maps."""
        maps = x.to(self.device, self.dtype).view(-1, *self.shape)
        self._blocks.append(maps.permute(2, 1, 0).contiguous())
        self._pooled = torch.cat([self._pooled, maps.mean(dim=1)])
        self._energy = torch.cat([self._energy, maps.square().sum(dim=1)])

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Average the stored maps, weighted by their likeness to the cue where it is known."""
        if not self._blocks:
            return cue
        out = torch.empty_like(cue, dtype=self.dtype)
        for rows, part in by_mask(self.shape, cue.to(self.dtype), kept, labels).items():
            out[list(rows)] = self._average(self._attention(part)).flatten(1)
        return out

    def recall(self, cues: Sequence[Cue], watch: int) -> list[Recalled]:
        """Pooling commutes with averaging: the pooled answer is the average of pooled maps."""
        if not self._blocks:
            return super().recall(cues, watch)
        found = [self._attention(cue) for cue in cues]
        watched = [weights[:watch] for weights in found]
        parts = self._average(torch.cat(watched)).split([len(w) for w in watched])
        return [Recalled(w @ self._pooled, part) for w, part in zip(found, parts, strict=True)]

    def _attention(self, cue: Cue) -> Tensor:
        """softmax(beta · standardised likeness) [n, N]; the likeness sees common channels."""
        kept, values = cue.shared()
        product = self._product(cue, kept, values.to(self.dtype))
        energy = self._energy @ self._energy.new_zeros(self.shape.channels).index_fill(0, kept, 1)
        if self.options["metric"] == "euclid":
            product = 2 * product - energy
        elif self.options["metric"] == "cosine":
            product = product / energy.clamp_min(1e-12).sqrt()
        spread = product.std(dim=1, keepdim=True, correction=0).clamp_min(1e-12)
        score = (product - product.mean(dim=1, keepdim=True)) / spread
        return torch.softmax(float(self.options["beta"]) * score, dim=1)

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
        total = self.empty(self.shape.size, len(weights))
        at = 0
        for block in self._blocks:
            total.addmm_(block.flatten(0, 1), weights[:, at : at + block.shape[2]].T)
            at += block.shape[2]
        return self.position_major(total.T.contiguous()).view(-1, *self.shape)

    def forget(self, beta: float) -> None:
        """Drop the oldest share beta of the maps."""
        keep = len(self._pooled) - round(beta * len(self._pooled))
        stored = torch.cat([self.empty(*_first(self.shape)), *self._blocks], dim=2)
        self._blocks = [stored[:, :, stored.shape[2] - keep :].contiguous()] if keep else []
        self._pooled, self._energy = (
            part[len(part) - keep :] for part in (self._pooled, self._energy)
        )
        self._products.clear()

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        """What one map adds."""
        return shape.size + 2 * shape.channels

    def n_floats(self) -> dict[str, int]:
        """Every map, and per map and channel its mean and squared norm."""
        held = sum(block.numel() for block in self._blocks)
        return {"weights": held + self._pooled.numel() + self._energy.numel(), "prior": 0}


def _first(shape: Shape) -> tuple[int, int, int]:
    return shape.channels, shape.positions, 0


class ModernHopfield(Memory):
    """Recalls by attention."""

    trace = ModernHopfieldTrace
