"""The contract of an associative memory: write, read with the kept entries fixed, forget.

A memory serves a stack of runs, each with a trace of its own: what a run recalls is the same
bits alone or stacked, because no arithmetic and no random draw is shared between runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from sharc.errors import UserError, unknown


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
    """What is stored of n samples: their kept channels, the first `common` the same in all."""

    index: Tensor  # [n, k] kept channels; K where a sample keeps fewer than k
    values: Tensor  # [n, k, H·W] their values; 0 where the index is K
    common: int
    labels: Tensor  # [n]
    serial: Tensor  # [n] when each sample was written, counted from the run's first
    channels: int

    @cached_property
    def kept(self) -> Tensor:
        """[n, K] bool."""
        kept = torch.zeros(len(self.index), self.channels + 1, dtype=torch.bool)
        return kept.to(self.index.device).scatter(1, self.index, True)[:, :-1]

    def dense(self) -> Tensor:
        """[n, H·W·K] with zeros in place of what is not stored."""
        n, k, positions = self.values.shape
        maps = self.values.new_zeros(n, positions, self.channels + 1)
        maps.scatter_(2, self.index[:, None, :].expand(n, positions, k), self.values.mT)
        return maps[:, :, :-1].reshape(n, -1)

    def shared(self) -> tuple[Tensor, Tensor]:
        """The common channels [c] and their values [n, c·H·W], channel by channel."""
        return self.index[0, : self.common], self.values[:, : self.common].flatten(1)


@dataclass
class Recalled:
    """The memory's answer to one cue, kept channels not yet put back."""

    pooled: Tensor  # [n, K], averaged over the positions
    maps: Tensor  # [min(watch, n), H·W, K] of the first samples, to measure the error by


class Trace(ABC):
    """The memory of one run."""

    defaults: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        shape: Shape,
        options: Mapping[str, Any],
        seed: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        for name in options:
            if name not in self.known():
                kind = f"option of memory {type(self).__name__}"
                raise UserError(unknown(kind, name, self.known()))
        self.shape, self.seed, self.device, self.dtype = shape, seed, device, dtype
        self.options = self.known() | dict(options)
        self.reset()

    @classmethod
    def known(cls) -> dict[str, Any]:
        """Every option with its default."""
        return cls.defaults

    @abstractmethod
    def reset(self) -> None:
        """Set up the state before the first write."""

    @abstractmethod
    def write(self, x: Tensor, labels: Tensor) -> None:
        """Learn the maps x [n, d] of the classes `labels` [n]."""

    @abstractmethod
    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Guess whole maps [n, d] from cues [n, d], 0 where `kept` [n, K] is false."""

    @property
    def erases(self) -> float:
        """The share to forget at each act of forgetting; 0 for a memory made without it."""
        return 0.0

    @abstractmethod
    def forget(self, beta: float) -> None:
        """Move a share beta of the way back to the state before the first write."""

    @abstractmethod
    def n_floats(self) -> dict[str, int]:
        """Numbers held: {"weights": what was learnt, "prior": what forgetting returns to}."""

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        """Numbers by which the memory grows with each map written."""
        return 0

    def empty(self, *size: int) -> Tensor:
        """A tensor of zeros where the memory lives."""
        return torch.zeros(*size, device=self.device, dtype=self.dtype)

    def recall(self, cues: Sequence[Cue], watch: int) -> list[Recalled]:
        """Complete stored cues; a memory with a shorter way to the pooled answer overrides it."""
        return [self._recall_one(cue, watch) for cue in cues]

    def _recall_one(self, cue: Cue, watch: int) -> Recalled:
        maps = self.complete(cue.dense(), cue.kept, cue.labels).view(-1, *self.shape)
        return Recalled(maps.mean(dim=1), maps[:watch])

    def channel_major(self, x: Tensor) -> Tensor:
        """[n, d] laid out (H·W, K) -> [n, d] laid out (K, H·W)."""
        return x.to(self.device, self.dtype).view(-1, *self.shape).mT.flatten(1)

    def position_major(self, x: Tensor) -> Tensor:
        """The inverse of `channel_major`."""
        return x.view(-1, self.shape.channels, self.shape.positions).mT.flatten(1)


class Memory:
    """A stack of traces, one per run."""

    trace: ClassVar[type[Trace]]
    pooled_storage: ClassVar[bool] = False  # a sample costs K numbers instead of H·W·K

    def __init__(
        self,
        stack: int,
        size: int,
        options: Mapping[str, Any],
        seeds: Sequence[int],
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        channels: int | None = None,
    ) -> None:
        """`size` is d = H·W·K, `channels` is K (d when a map has one position)."""
        if len(seeds) != stack:
            raise ValueError(f"a stack of {stack} runs needs {stack} seeds, got {len(seeds)}")
        channels = channels or size
        shape = Shape(size // channels, channels)
        self.traces = [
            self.trace(shape, options, seed, torch.device(device), dtype) for seed in seeds
        ]

    def write(self, x: Tensor, labels: Tensor | None = None) -> None:
        """Learn x [S, n, d] of the classes `labels` [S, n]."""
        labels = _or_zeros(labels, x)
        for trace, maps, label in zip(self.traces, x, labels, strict=True):
            trace.write(maps, label)

    def read(self, cue: Tensor, kept: Tensor, labels: Tensor | None = None) -> Tensor:
        """Complete cue [S, n, d]; entries of the channels in `kept` [S, n, K] are held fixed."""
        labels = _or_zeros(labels, cue)
        fixed = kept.repeat(1, 1, cue.shape[-1] // kept.shape[-1])
        known = torch.where(fixed, cue, 0)
        parts = zip(self.traces, known, kept, labels, strict=True)
        guess = torch.stack([t.complete(c, k, label).to(cue) for t, c, k, label in parts])
        return torch.where(fixed, cue, guess)

    def forget(self, beta: float) -> None:
        """Erase a share beta of everything written so far."""
        if not 0 <= beta <= 1:
            raise UserError(f"beta {beta} is not a share to forget: use a number from 0 to 1.")
        if beta:
            for trace in self.traces:
                trace.forget(beta)

    def n_floats(self) -> dict[str, int]:
        """Numbers held per run."""
        return self.traces[0].n_floats()


def _or_zeros(labels: Tensor | None, x: Tensor) -> Tensor:
    return torch.zeros(x.shape[:2], dtype=torch.long, device=x.device) if labels is None else labels
