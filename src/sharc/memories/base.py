"""The contract of an associative memory: write maps, recall them from a part, forget.

Each run has its own memory. Runs share no arithmetic and no random draw, so a run recalls the same
bits alone or stacked with others.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from sharc.options.base import HasOptions, NoOptions


class Shape(NamedTuple):
    """A feature map of `positions` = H·W by `channels` = K, flattened in this order."""

    positions: int
    channels: int

    @property
    def size(self) -> int:
        """d = H·W·K."""
        return self.positions * self.channels


@dataclass(eq=False)
class Cue:
    """What is stored of n samples: their kept channels, the first `n_shared` the same in all."""

    index: Tensor  # [n, k] kept channels; K where a sample keeps fewer than k
    values: Tensor  # [n, k, H·W] their values; 0 where the index is K
    n_shared: int
    labels: Tensor  # [n]
    write_index: Tensor  # [n] when each sample was written, counted from the run's first
    n_channels: int  # K

    @cached_property
    def kept(self) -> Tensor:
        """[n, K] bool."""
        kept = torch.zeros(len(self.index), self.n_channels + 1, dtype=torch.bool)
        return kept.to(self.index.device).scatter(1, self.index, True)[:, :-1]

    def dense(self) -> Tensor:
        """[n, H·W·K] with zeros in place of what is not stored."""
        n, k, positions = self.values.shape
        maps = self.values.new_zeros(n, positions, self.n_channels + 1)
        maps.scatter_(2, self.index[:, None, :].expand(n, positions, k), self.values.mT)
        return maps[:, :, :-1].reshape(n, -1)

    def shared(self) -> tuple[Tensor, Tensor]:
        """The shared channels [c] and their values [n, c·H·W], channel by channel."""
        return self.index[0, : self.n_shared], self.values[:, : self.n_shared].flatten(1)


@dataclass
class Recalled:
    """The memory's answer to one cue, before the kept channels are restored."""

    pooled: Tensor  # [n, K], averaged over the positions
    maps: Tensor  # [min(n_probe, n), H·W, K] of the first samples, to measure the error by


class AssociativeMemory(HasOptions, ABC):
    """The memory of one run. A subclass writes, completes and counts what it holds."""

    Options: ClassVar[type[NoOptions]] = NoOptions

    def __init__(
        self,
        shape: Shape,
        options: NoOptions | None = None,
        seed: int = 0,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.shape, self.seed, self.dtype = shape, seed, dtype
        self.device = torch.device(device)
        self.options = self.Options() if options is None else options
        self.reset()

    def reset(self) -> None:
        """Set up the state before the first write."""

    @abstractmethod
    def write(self, x: Tensor, labels: Tensor) -> None:
        """Learn the maps x [n, d] of the classes `labels` [n]."""

    @abstractmethod
    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Guess whole maps [n, d] from cues [n, d], 0 where `kept` [n, K] is false."""

    def recall(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Complete cues [n, d]; the entries of the channels in `kept` [n, K] are held fixed."""
        fixed = kept.repeat(1, self.shape.positions)
        guess = self.complete(torch.where(fixed, cue, 0), kept, labels).to(cue)
        return torch.where(fixed, cue, guess)

    def recall_stored(self, cues: Sequence[Cue], n_probe: int) -> list[Recalled]:
        """Complete stored cues; override it where the pooled answer has a shortcut."""
        return [self._recall_one(cue, n_probe) for cue in cues]

    def _recall_one(self, cue: Cue, n_probe: int) -> Recalled:
        maps = self.complete(cue.dense(), cue.kept, cue.labels).view(-1, *self.shape)
        return Recalled(maps.mean(dim=1), maps[:n_probe])

    def forget(self) -> None:
        """Move towards the state before the first write; optional."""

    @abstractmethod
    def n_floats(self) -> dict[str, int]:
        """Numbers held: {"weights": what was learnt, "prior": what forgetting returns to}."""

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        """Numbers by which the memory grows with each map written."""
        return 0

    def zeros(self, *size: int) -> Tensor:
        """A tensor of zeros on the memory's device and in its dtype."""
        return torch.zeros(*size, device=self.device, dtype=self.dtype)

    def channel_major(self, x: Tensor) -> Tensor:
        """[n, d] laid out (H·W, K) -> [n, d] laid out (K, H·W)."""
        return x.to(self.device, self.dtype).view(-1, *self.shape).mT.flatten(1)

    def position_major(self, x: Tensor) -> Tensor:
        """The inverse of `channel_major`."""
        return x.view(-1, self.shape.channels, self.shape.positions).mT.flatten(1)
