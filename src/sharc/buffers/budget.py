"""How many masked examples a buffer of given size holds, and what they cost in floats and bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sharc.memories.base import AssociativeMemory, Shape
from sharc.saliency import kept_count

FLOAT_BYTES = 4
LABEL_BYTES = 8
INDEX_BYTES = 2  # a channel's number


class DoesNotFitError(ValueError):
    """The associative memory alone holds more than the dense buffer it is compared with."""


@dataclass(frozen=True)
class Budget:
    """What a run may hold per task, and what an example costs it."""

    slots: int  # m, whole maps per task
    tasks: int
    shape: Shape  # of a whole map
    logits: int  # numbers held with each example

    @property
    def numbers(self) -> int:
        """Stored numbers a task may hold: m maps' worth."""
        return self.slots * self.shape.size

    def by_samples(self, theta: float) -> int:
        """Examples per task when their kept values alone count."""
        return self.numbers // (kept_count(self.shape.channels, theta) * self.shape.positions)

    def by_total_bytes(self, theta: float, memory: AssociativeMemory) -> int:
        """Examples per task when the whole holds no more bytes than m dense maps per task."""
        extra = LABEL_BYTES + FLOAT_BYTES * self.logits
        room = self.tasks * self.slots * (FLOAT_BYTES * self.shape.size + extra)
        fixed = FLOAT_BYTES * sum(memory.n_floats().values())
        kept = kept_count(self.shape.channels, theta)
        values = kept * self.shape.positions + memory.floats_per_item(self.shape)
        each = FLOAT_BYTES * values + index_bytes(self.shape.channels, kept) + extra
        count = (room - fixed) // (self.tasks * each)
        if count < 1:
            raise DoesNotFitError(
                f"memory {type(memory).__name__} alone holds {fixed / 1e6:.1f} MB, the dense"
                f" buffer of {self.slots * self.tasks} maps {room / 1e6:.1f} MB: with budget"
                " total_bytes not one example per task fits; use a larger buffer or a smaller"
                " memory."
            )
        return count


def index_bytes(channels: int, kept: int) -> int:
    """Which channels are kept, as numbers or as one bit per channel, whichever is shorter."""
    return 0 if kept == channels else min(INDEX_BYTES * kept, -(-channels // 8))


def ledger_parts(
    shape: Shape,
    kept: Sequence[int],
    logits: int,
    recalled: int = 0,
    memory: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Everything held of examples that keep so many channels each: items, floats and bytes."""
    items = len(kept)
    held = memory or {"weights": 0, "prior": 0}
    floats = {
        "values": sum(kept) * shape.positions,
        "logits": items * logits,
        "recalled": recalled,
    } | {f"memory_{name}": count for name, count in held.items()}
    index = sum(index_bytes(shape.channels, k) for k in kept)
    parts = {name: {"floats": n, "bytes": n * FLOAT_BYTES} for name, n in floats.items()}
    parts["labels"] = {"floats": items, "bytes": items * LABEL_BYTES}
    parts["indices"] = {"floats": sum(kept) if index else 0, "bytes": index}
    return {"items": items, "parts": parts}
