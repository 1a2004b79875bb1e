"""A task's examples as they are held, and as they are written into an associative memory."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Examples:
    """n examples of a task: their slots, training indices, classes, masks, and when seen."""

    rows: Tensor  # [n]
    index: Tensor  # [n]
    labels: Tensor  # [n]
    kept: Tensor  # [n, K] bool
    seen_at: Tensor  # [n] positions in the task's order

    def part(self, rows: Tensor) -> "Examples":
        """Some of them."""
        return Examples(*(part[rows] for part in vars(self).values()))


@dataclass(frozen=True)
class Seen:
    """A task's training indices in order, and how many of its last batches its slots could hold."""

    order: Tensor  # [n]
    batch: int
    last: int

    @property
    def last_from(self) -> int:
        """Where the last batches begin."""
        return max(0, len(self.order) - self.last * self.batch)


@dataclass(frozen=True)
class Part:
    """Examples whose maps are written at once, perhaps among others."""

    examples: Examples
    written: Tensor  # training indices; empty when nothing is written
    place: Tensor  # [n] of each example in `written`
    recalled: bool  # whether these examples are ever recalled
