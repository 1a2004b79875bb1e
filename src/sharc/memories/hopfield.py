"""Classical Hopfield network: binary maps, Hebbian weights, sign updates until nothing flips.

The weights W = sum_i x_i x_iᵀ are d x d (2.3 GiB at d = 25,088) and never formed: a product
with W goes through the stored states, W xi = sum_i x_i (x_i · xi).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from sharc.memories.base import AssociativeMemory, Cue, Recalled, Shape
from sharc.options.memories import HopfieldOptions


class Hopfield(AssociativeMemory):
    """Stored states ±1 and what is needed to turn maps into states and back."""

    Options = HopfieldOptions
    options: HopfieldOptions

    def reset(self) -> None:
        self._states = self.zeros(0, self.shape.size)  # [N, d]
        self._strength = self.zeros(0)  # [N]
        self._median: Tensor | None = None  # [K], of the first write
        self._sums = self.zeros(2, 0, self.shape.channels)  # off / on, by class and channel
        self._counts = self._sums.clone()

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Add the maps' states; learn what an entry is worth in either state."""
        maps = x.to(self.device, self.dtype).view(-1, *self.shape)
        if self._median is None:
            self._median = maps.flatten(0, 1).median(dim=0).values
        on = maps > self._median
        self._states = torch.cat([self._states, _signs(on.flatten(1), self.dtype)])
        self._strength = torch.cat([self._strength, self.zeros(len(x)) + 1])
        self._make_room(int(labels.max()) + 1)
        for state, chosen in enumerate((~on, on)):
            self._sums[state].index_add_(0, labels, (maps * chosen).sum(dim=1))
            self._counts[state].index_add_(0, labels, chosen.sum(dim=1).to(self.dtype))

    def _make_room(self, classes: int) -> None:
        room = self.zeros(2, max(0, classes - self._sums.shape[1]), self.shape.channels)
        self._sums = torch.cat([self._sums, room], dim=1)
        self._counts = torch.cat([self._counts, room], dim=1)

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Update the free entries with the kept ones clamped, then look their values up."""
        if self._median is None:
            return cue
        fixed = kept.repeat(1, self.shape.positions)
        known = (cue.to(self.dtype).view(-1, *self.shape) > self._median).flatten(1)
        state = torch.where(fixed, _signs(known, self.dtype), 0)
        moving = torch.arange(len(state), device=state.device)
        for _ in range(self.options.steps):
            new = self._update(state[moving], fixed[moving])
            flipped = (new != state[moving]).any(dim=1)
            state[moving] = new
            moving = moving[flipped]
            if not len(moving):
                break
        return self._values(state > 0, labels)

    def _update(self, state: Tensor, fixed: Tensor) -> Tensor:
        """sign(W xi) where free; the diagonal of W is zero."""
        field = (state @ self._states.T * self._strength) @ self._states
        field -= self._strength.sum() * state
        return torch.where(fixed, state, _signs(field > 0, self.dtype))

    def recall_stored(self, cues: Sequence[Cue], n_probe: int) -> list[Recalled]:
        """All cues at once: a product with W reads every stored state."""
        dense, kept = torch.cat([c.dense() for c in cues]), torch.cat([c.kept for c in cues])
        found = self.complete(dense, kept, torch.cat([c.labels for c in cues]))
        parts = found.view(-1, *self.shape).split([len(cue.labels) for cue in cues])
        return [Recalled(maps.mean(dim=1), maps[:n_probe]) for maps in parts]

    def _values(self, on: Tensor, labels: Tensor) -> Tensor:
        """Mean value of the class's entries in a channel, by state; [n, d] bool -> [n, d]."""
        self._make_room(int(labels.max()) + 1)
        level = (self._sums / self._counts.clamp_min(1))[:, labels]
        off, up = (part.repeat(1, self.shape.positions) for part in level)
        return torch.where(on, up, off)

    def forget(self) -> None:
        """Weaken what is stored, so that later maps outweigh it."""
        if self.options.forget_rate == 1:
            self.reset()
        self._strength *= 1 - self.options.forget_rate

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        """Count a state and its strength."""
        return shape.size + 1

    def n_floats(self) -> dict[str, int]:
        """States, strengths, medians, and two sums and counts per class and channel."""
        held = [self._states, self._strength, self._sums, self._counts]
        median = 0 if self._median is None else self._median.numel()
        return {"weights": sum(part.numel() for part in held) + median, "prior": 0}


def _signs(on: Tensor, dtype: torch.dtype) -> Tensor:
    return on.to(dtype).mul_(2).sub_(1)
