"""A sequence of tasks as cached features: what every run of a data set trains and tests on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from sharc.errors import UserError


class Maps(Protocol):
    """Lazily read feature maps of the training images."""

    def rows(self, index: Tensor) -> Tensor:
        """Maps of the training images `index` [n], as float32 [n, H, W, K]."""


class Drifting(Protocol):
    """Test features that change while a run trains, because its backbone's statistics do."""

    def test(self, seed: int, trained: int) -> Tensor:
        """[N_test, D] after `trained` tasks; rows of tasks not seen yet are meaningless."""


@dataclass(frozen=True)
class TaskStream:
    """Pooled features and the tasks that index into them.

    x: [N, D], or [V, N, D] when each training image was cached in V augmented views.
    """

    x: Tensor
    y: Tensor  # [N] int64
    train_tasks: list[Tensor]  # per task, indices into x
    test_x: Tensor  # [N_test, D]
    test_y: Tensor
    test_tasks: list[Tensor]
    classes: list[list[int]]  # per task
    n_classes: int
    maps: Maps | Sequence[Maps] | None = None  # one per view where there are several
    map_size: tuple[int, int] = (1, 1)  # (H, W); a pooled row is the mean of its map over both
    name: str = "stream"
    seeds: Sequence[int] | None = None  # whose views x holds, where each seed has its own
    drifting: Drifting | None = None  # takes the place of test_x
    validation_tasks: list[Tensor] | None = None  # per task, indices into x that no run trains on

    @property
    def n_tasks(self) -> int:
        """Number of tasks T."""
        return len(self.train_tasks)

    @property
    def n_features(self) -> int:
        """Length D of a pooled row, the number of channels K of a map."""
        return self.x.shape[-1]

    @property
    def n_views(self) -> int:
        """Number of cached views V of each training image."""
        return self.x.shape[0] if self.x.ndim == 3 else 1

    def view_of(self, seed: int) -> int:
        """The one view a run trains on: with one epoch an image is seen exactly once."""
        return seed % self.n_views if self.seeds is None else self.seeds.index(seed)

    def test_of(self, seed: int, trained: int) -> Tensor:
        """Test features [N_test, D] as the run with this seed sees them after `trained` tasks."""
        if self.drifting is None:
            return self.test_x
        return self.drifting.test(seed, trained).to(self.test_x)

    def features_of(self, seed: int) -> Tensor:
        """Training features [N, D] as the run with this seed sees them."""
        return self.x[self.view_of(seed)] if self.x.ndim == 3 else self.x

    def maps_of(self, seed: int) -> Maps | None:
        """Maps of the view that the run with this seed sees."""
        return self.maps[self.view_of(seed)] if isinstance(self.maps, Sequence) else self.maps

    def on_validation(self) -> "TaskStream":
        """The same stream with the held-out training images where its test images were."""
        held_out = self.validation_tasks or []
        if not held_out or not all(len(index) for index in held_out):
            raise UserError(
                f"data set {self.name!r} has no validation images to choose on: set "
                "data.validation_share above 0, for example to 0.1."
            )
        if self.drifting is not None:
            raise UserError(
                f"data set {self.name!r}: under bn_mode train the features of validation images "
                "are not known. Set bn_mode to eval, or choose nothing."
            )
        images = self.x[0] if self.x.ndim == 3 else self.x
        return replace(self, test_x=images, test_y=self.y, test_tasks=held_out)

    def to(self, device: torch.device, dtype: torch.dtype) -> "TaskStream":
        """The same stream on a device; labels and indices stay integers."""
        return replace(
            self,
            x=self.x.to(device, dtype),
            test_x=self.test_x.to(device, dtype),
            y=self.y.to(device),
            test_y=self.test_y.to(device),
            train_tasks=[index.to(device) for index in self.train_tasks],
            test_tasks=[index.to(device) for index in self.test_tasks],
        )

    @cached_property
    def _finite(self) -> bool:
        """One quick pass, taken once: a NaN or an infinity would show in the sums."""
        return all(bool(features.sum().isfinite()) for features in (self.x, self.test_x))

    def check_finite(self) -> None:
        """Stop before a NaN or an infinity spreads through every weight."""
        if self._finite:
            return
        for part, features in (("training", self.x), ("test", self.test_x)):
            finite = torch.isfinite(features.reshape(-1, self.n_features)).all(dim=1)
            if not bool(finite.all()):
                row = int((~finite).nonzero()[0]) % features.shape[-2]
                raise UserError(
                    f"data set {self.name!r}: {part} features, row {row}, hold NaN or infinity"
                    f" ({int((~finite).sum())} such rows): delete these features and extract"
                    " them again."
                )
