"""How many masked examples a memory of given size holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sharc.errors import UserError, unknown
from sharc.memories.base import AssociativeMemory, Shape
from sharc.saliency import kept_count

FLOAT_BYTES = 4
LABEL_BYTES = 8
INDEX_BYTES = 2  # a channel's number

DEFAULTS: dict[str, Any] = {
    "saliency": "abs_gt",  # Eq. 4; relu_ge, random: see sharc.saliency
    "saliency_time": "batch",  # Algorithm 1: by the head that meets the example; or task_end
    "space": "map",  # or pooled: the same memory on vectors averaged over positions
    "cue_share": 0.75,  # least share of an example's channels that its group has in common
    "forget_every": 1,  # tasks, R in Algorithm 1
    "budget": "samples",  # kept channels count; or total_bytes: everything held counts
    "budget_count": "kept",  # a kept channel costs H·W; or nonzero: its non-zero entries
    "stored": "masked",  # or recalled: once completed, the whole example is held
    "recall": "task_start",  # or at_store: once, when the example has been written
    "recall_scope": "all",  # or last_batches: only of the last ceil(m / batch) batches
    "write_scope": "stored",  # or last_batches
    "forget": "task",  # or write: before each batch written
    "watch": 2,  # examples per group by which the recall error in map space is measured
}
CHOICES: dict[str, tuple[str, ...]] = {
    "saliency_time": ("batch", "task_end"),
    "space": ("map", "pooled"),
    "budget": ("samples", "total_bytes"),
    "budget_count": ("kept", "nonzero"),
    "stored": ("masked", "recalled"),
    "recall": ("task_start", "at_store"),
    "recall_scope": ("all", "last_batches"),
    "write_scope": ("stored", "last_batches"),
    "forget": ("task", "write"),
}


class DoesNotFitError(ValueError):
    """The associative memory alone holds more than the dense buffer it is compared with."""


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their defaults; an unknown name or value is the user's mistake."""
    for name, value in options.items():
        if name not in DEFAULTS:
            raise UserError(unknown("option of sharc", name, DEFAULTS))
        if name in CHOICES and value not in CHOICES[name]:
            raise UserError(unknown(f"sharc.{name}", value, CHOICES[name]))
    complete = DEFAULTS | dict(options)
    if complete["recall"] == "at_store" and complete["stored"] == "masked":
        raise UserError(
            "recall at_store with stored masked would throw away what it recalls: set stored to"
            " recalled, or recall to task_start."
        )
    return complete


@dataclass(frozen=True)
class Budget:
    """What a run may hold per task, and what an example costs it."""

    slots: int  # m, whole maps per task
    tasks: int
    shape: Shape  # of what is stored of an example
    dense: int  # d, numbers in a whole map
    logits: int  # numbers held beside each example

    @property
    def numbers(self) -> int:
        """Stored numbers a task may hold: m maps' worth."""
        return self.slots * self.dense

    def by_samples(self, theta: float) -> int:
        """Examples per task when their kept values alone count."""
        return self.numbers // (kept_count(self.shape.channels, theta) * self.shape.positions)

    def by_total_bytes(self, theta: float, memory: AssociativeMemory) -> int:
        """Examples per task when the whole holds no more bytes than m dense maps per task."""
        beside = LABEL_BYTES + FLOAT_BYTES * self.logits
        room = self.tasks * self.slots * (FLOAT_BYTES * self.dense + beside)
        fixed = FLOAT_BYTES * sum(memory.n_floats().values())
        kept = kept_count(self.shape.channels, theta)
        values = kept * self.shape.positions + memory.floats_per_item(self.shape)
        each = FLOAT_BYTES * values + index_bytes(self.shape.channels, kept) + beside
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
