"""The gradient of one run's loss, for all runs of a stack at once."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.tracing import TracedGradient
from sharc.engine.types import EMPTY, Batch, Examples, Model, Replay, Weights
from sharc.strategies.blame import check_projected, located, one_number


class Rows(NamedTuple):
    """Rows of S runs that lie together: [S, R, D], [S, R], and perhaps stored logits."""

    x: Tensor
    labels: Tensor
    stored: Tensor | None = None  # [S, r, C] of the last r rows

    def tensors(self) -> tuple[Tensor, ...]:
        """The tensors that are present; Rows(*tensors) is the inverse."""
        return (self.x, self.labels) if self.stored is None else (self.x, self.labels, self.stored)


Parts = tuple[int, ...]  # how many rows each part of some Rows has
Loss = Callable[..., Tensor]


class HasLoss(Protocol):
    """The part of a strategy used here."""

    head: Head
    copies: dict[str, Head]

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        """One run's loss."""

    def penalty(self, model: Model) -> Tensor | float:
        """One run's regulariser."""

    def project(self, gradient: Tensor, past: Tensor) -> Tensor:
        """One run's gradient to follow."""

    @classmethod
    def overrides(cls, hook: str) -> bool:
        """Whether the method has a hook of its own."""


class StackedLoss:
    """A loss that is recorded once and run at every step (see engine.tracing)."""

    def __init__(self, strategy: HasLoss, draws: int) -> None:
        self.strategy, self.draws = strategy, draws
        self.importance: dict[str, Tensor] | None = None
        self.penalised = False  # from the second task on, where the method has a penalty
        self.hold(None)
        self._recorded: dict[Any, TracedGradient] = {}
        self._seen: tuple[Any, ...] = ()

    def hold(self, replay: Replay | None) -> None:
        """Take the memory for a task; if slots are empty, each run goes alone, without them."""
        self._memory: list[tuple[slice, tuple[Rows, Parts] | None]] = [(slice(None), None)]
        if replay is not None:
            alone = [slice(s, s + 1) for s in range(len(replay.x))]
            parts = [slice(None)] if replay.valid is None else alone
            self._memory = [(runs, _of_runs(replay, runs)) for runs in parts]

    def gradient(self, batch: Batch) -> list[Tensor]:
        """The gradient to follow, one [S, ...] for each of the head's weights."""
        self._forget_if_changed()
        found = [self._step(batch, runs, memory) for runs, memory in self._memory]
        return found[0] if len(found) == 1 else list(map(torch.cat, zip(*found, strict=True)))

    def _forget_if_changed(self) -> None:
        """A recorded loss holds the method's attributes as constants."""
        seen = tuple(map(id, vars(self.strategy).values()))
        if seen != self._seen:
            self._recorded.clear()
            self._seen = seen

    def _step(self, batch: Batch, runs: slice, memory: tuple[Rows, Parts] | None) -> list[Tensor]:
        rows, parts = self._rows(batch, runs, memory)
        if not self.strategy.overrides("project"):
            return self._of(rows, parts, runs)
        alone = [piece for r, p in zip(rows, parts, strict=True) for piece in _pieces(r, p)]
        each = [self._of((r,), ((r.x.shape[1],),), runs) for r in alone]
        if len(each) == 1:
            return each[0]
        flat = torch.stack([torch.cat([g.flatten(1) for g in part], 1) for part in each], 1)
        found = [self.strategy.project(f[0].clone(), f[1:].clone()) for f in flat]  # [k, P] each
        check_projected(type(self.strategy), found, flat.shape[2])
        shapes = [g.shape[1:] for g in each[0]]
        split = torch.stack(found).split([shape.numel() for shape in shapes], dim=1)
        return [part.unflatten(1, shape) for part, shape in zip(split, shapes, strict=True)]

    def _rows(
        self, batch: Batch, runs: slice, memory: tuple[Rows, Parts] | None
    ) -> tuple[tuple[Rows, ...], tuple[Parts, ...]]:
        """What a step passes through the model, and the parts that its loss sees."""
        stored = None if batch.logits is None else batch.logits[runs]
        new = Rows(batch.x[runs], batch.y[runs], stored)
        old = batch.x.shape[1] - batch.n_new
        sizes = (batch.n_new, *[old // self.draws] * (self.draws if old else 0))
        if memory is None:
            return (new,), (sizes,)
        old_rows, counts = memory
        return (new, old_rows), (sizes, counts)

    def _of(self, rows: tuple[Rows, ...], parts: tuple[Parts, ...], runs: slice) -> list[Tensor]:
        weights = _cut(self.strategy.head.parameters, runs)
        copies = {name: _cut(h.parameters, runs) for name, h in self.strategy.copies.items()}
        importance = _cut(self.importance or {}, runs)
        tensors = [r.tensors() for r in rows]
        arguments = (weights, copies, importance, tensors)
        shapes = str([t.shape for r in tensors for t in r])
        key = (shapes, parts, *copies, bool(importance), self.penalised)
        if key not in self._recorded:
            try:
                self._recorded[key] = TracedGradient(self._one_run(parts), arguments)
            except Exception as error:
                raise located(type(self.strategy), error) from error
        return self._recorded[key](*_flat(arguments))

    def _one_run(self, parts: tuple[Parts, ...]) -> Loss:
        """The loss of one run, of its weights first."""
        strategy, penalised = self.strategy, self.penalised
        apply = type(strategy.head).apply

        def loss(
            weights: Weights,
            copies: dict[str, Weights],
            importance: Weights,
            rows: list[tuple[Tensor, ...]],
        ) -> Tensor:
            seen: list[Examples] = []
            for r, sizes in zip(itertools.starmap(Rows, rows), parts, strict=True):
                z = apply(weights, r.x)
                others = {name: apply(copy, r.x) for name, copy in copies.items()}
                seen += _examples(r, sizes, z, others)
            total = one_number(type(strategy), "loss", strategy.loss(*seen))
            if penalised:
                model = Model(weights, copies, importance)
                total = total + one_number(type(strategy), "penalty", strategy.penalty(model))
            return total

        return loss


def _examples(
    rows: Rows, sizes: Parts, logits: Tensor, others: dict[str, Tensor]
) -> list[Examples]:
    """The parts of one run's rows [R, D]."""
    first = len(rows.labels) - (0 if rows.stored is None else len(rows.stored))
    found, end = [], 0
    for size in sizes:
        start, end = end, end + size
        stored = EMPTY
        if rows.stored is not None and start >= first:
            stored = rows.stored[start - first : end - first]
        theirs = {name: z[start:end] for name, z in others.items()}
        part = slice(start, end)
        found.append(Examples(rows.x[part], rows.labels[part], logits[part], stored, theirs))
    return found


def _pieces(rows: Rows, parts: Parts) -> list[Rows]:
    """Each part as rows of its own."""
    labels, x = rows.labels.split(parts, dim=1), rows.x.split(parts, dim=1)
    return [Rows(*pair) for pair in zip(x, labels, strict=True)]


def _of_runs(replay: Replay, runs: slice) -> tuple[Rows, Parts]:
    """The memory of all runs, or, where some slots are empty, of a single one without them."""
    x, y, logits = replay.x[runs], replay.y[runs], replay.logits
    logits = None if logits is None else logits[runs]
    if replay.valid is None:
        return Rows(x, y, logits), tuple(s.stop - s.start for s in replay.task_slices)
    (there,) = replay.valid[runs]
    logits = None if logits is None else logits[:, there]
    counts = tuple(int(there[s].sum()) for s in replay.task_slices)
    return Rows(x[:, there], y[:, there], logits), counts


def _cut(weights: Weights, runs: slice) -> dict[str, Tensor]:
    return {name: value[runs] for name, value in weights.items()}


def _flat(arguments: tuple[Any, ...]) -> list[Tensor]:
    """The tensors of the arguments in the order of torch's pytrees, which is slower."""
    weights, copies, importance, rows = arguments
    found = list(weights.values())
    for copy in copies.values():
        found += copy.values()
    return [*found, *importance.values(), *(part for r in rows for part in r)]
