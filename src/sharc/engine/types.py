"""The data that strategies, buffers and the trainer pass to one another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Replay:
    """The past tasks' examples as a strategy sees them: constant within a task."""

    rows: Callable[[], Tensor]  # makes x
    y: Tensor  # [S, M] int64
    logits: Tensor | None  # [S, M, C], the head's answer when the example was first seen
    task_slices: list[slice]  # rows of each past task
    valid: Tensor | None = None  # [S, M] bool; None when every row is an example
    kept: Tensor | None = None  # [S, M] training indices, if x holds those rows as they are

    @cached_property
    def x(self) -> Tensor:
        """[S, M, D] pooled features, stored or recalled; rows kept as they are need no copy."""
        return self.rows()


@dataclass(slots=True)
class Batch:
    """The rows of one step: the first `n_new` are the task's, the others are replayed."""

    x: Tensor  # [S, R, D]
    y: Tensor  # [S, R]
    label_offsets: Tensor  # [S * R], as Head.label_offsets gives them
    n_new: int
    logits: Tensor | None = None  # [S, R - n_new, C] stored logits of the replayed rows
    lookahead: Tensor | None = None  # [n, S, R, D] x of this step and of those known to follow


EMPTY = torch.empty(0)
Weights = Mapping[str, Tensor]  # a head's weights by name, of one run or of a stack


@dataclass(frozen=True)
class Examples:
    """Some examples of one run, as a strategy's loss sees them."""

    x: Tensor  # [n, D] features
    labels: Tensor  # [n]
    logits: Tensor  # [n, C] of the model that is being trained
    stored_logits: Tensor = EMPTY  # [n, C] when first seen, if the buffer keeps them
    logits_of: Mapping[str, Tensor] = field(default_factory=dict)  # [n, C] of each copy


@dataclass(frozen=True)
class Model:
    """One run's weights, those of its copies, and how important each weight is."""

    weights: Weights
    copies: Mapping[str, Weights]
    importance: Weights  # empty before the first task has ended
