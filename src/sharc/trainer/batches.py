"""The mini-batches of one task for a stack of runs, each with the rows it replays."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.sampling import replay_indices
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Batch, Replay


@dataclass
class BatchPlan:
    """One task's order of examples, to be cut into batches in one of two ways."""

    stream: TaskStream
    runs: list[RunSpec]
    head: Head
    order: Tensor  # [S, n] training indices
    batch: int

    def __post_init__(self) -> None:
        views = [self.stream.view_of(run.seed) * len(self.stream.y) for run in self.runs]
        self.shift = torch.tensor(views, device=self.order.device)[:, None]
        self.features = self.stream.x.view(-1, self.stream.n_features)  # all views, end to end
        self.rows = self.order + self.shift  # [S, n] into self.features

    def plain(self, lookahead: int = 1) -> Iterator[Batch]:
        """New rows alone, gathered `lookahead` steps at a time; the last batch may be smaller."""
        n_runs, n = self.order.shape
        whole = n // self.batch * self.batch
        for size, part in ((self.batch, slice(whole)), (n - whole, slice(whole, n))):
            if size == 0 or (size == self.batch and whole == 0):
                continue
            y = self._by_step(self.stream.y[self.order[:, part]], size)
            rows = self._by_step(self.rows[:, part], size).flatten(1)
            labelled = _each(y, self.head.label_offsets(y))
            for block in rows.split(lookahead):
                found = self.features.index_select(0, block.flatten())
                coming = found.view(len(block), n_runs, size, -1)
                for index, (labels, offsets) in zip(range(len(block)), labelled, strict=False):
                    rest = coming[index:] if lookahead > 1 else None
                    yield Batch(coming[index], labels, offsets, size, lookahead=rest)

    def sampled(self, replay: Replay, task: int, draws: int, size: int) -> Iterator[Batch]:
        """New rows and `draws` independent draws of `size` memory rows.

        The rows of all steps are drawn ahead and all lie in one pool, so that a step gathers its
        rows by one indexed copy. They are valid until the next batch is requested.
        """
        n_runs, n_memory = replay.y.shape
        run = torch.arange(n_runs, device=self.order.device)[:, None]
        old = self._draw(replay, task, draws, size) + run * n_memory
        pool, index = self._pool(replay, old)
        y = torch.cat([self.stream.y[self._by_step(self.order)], replay.y.reshape(-1)[old]], dim=2)
        label_offsets = self.head.label_offsets(y)
        stored = None if replay.logits is None else replay.logits.flatten(0, 1)
        old = old.flatten(1)
        rows = pool.new_empty(index.shape[1], self.stream.n_features)
        x = rows.view(n_runs, -1, self.stream.n_features)
        for at, old_at, labels, positions in _each(index, old, y, label_offsets):
            torch.index_select(pool, 0, at, out=rows)  # into the cache lines of the step before
            logits = None
            if stored is not None:
                logits = stored.index_select(0, old_at).view(n_runs, -1, stored.shape[1])
            yield Batch(x, labels, positions, self.batch, logits)

    def _pool(self, replay: Replay, old: Tensor) -> tuple[Tensor, Tensor]:
        """Features and where in them each step's rows lie, [steps, S * R].

        Examples stored whole are read from their original rows; recalled ones are appended to the
        task's own.
        """
        new = self._by_step(self.rows)
        if replay.kept is not None:
            old = (replay.kept + self.shift).reshape(-1)[old]
            return self.features, torch.cat([new, old], dim=2).flatten(1)
        pooled, new = torch.unique(new, return_inverse=True)
        pool = torch.cat([self.features[pooled], replay.x.reshape(-1, replay.x.shape[2])])
        return pool, torch.cat([new, old + len(pooled)], dim=2).flatten(1)

    def _by_step(self, index: Tensor, size: int | None = None) -> Tensor:
        """[S, n] -> [steps, S, B]."""
        parts = index.reshape(len(self.runs), -1, size or self.batch)
        return parts.transpose(0, 1).contiguous()

    def _draw(self, replay: Replay, task: int, draws: int, size: int) -> Tensor:
        """Memory rows of every step, [steps, S, draws * size], each run from its generator."""
        valid = replay.valid
        valid = torch.ones_like(replay.y, dtype=torch.bool) if valid is None else valid
        valid = valid.to("cpu")
        steps = self.order.shape[1] // self.batch
        size = min(size, int(valid.sum(dim=1).min()))
        rows = [
            replay_indices(run.seed, task, row, steps, draws, size)
            for run, row in zip(self.runs, valid, strict=True)
        ]
        return torch.stack(rows, dim=1).to(self.order.device)


def _each(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Step by step through tensors [steps, ...]; all views are made at once, which is faster."""
    return zip(*(tensor.unbind(0) for tensor in tensors), strict=True)
