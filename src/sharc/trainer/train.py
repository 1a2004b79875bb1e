"""Train all runs of a method on a stream: grouped by shape, stacked, in lock-step."""

import gc
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from sharc.buffers.base import Buffer
from sharc.engine.device import at_once, one_thread, resolve_device, resolve_dtype
from sharc.engine.runs import RunResult, RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.options.methods import MethodOptions
from sharc.strategies.base import Strategy
from sharc.trainer.heads import suited
from sharc.trainer.stacked import StackedTrainer

log = logging.getLogger(__name__)
MakeBuffer = Callable[[TaskStream, Sequence[RunSpec], MethodOptions, bool], Buffer]


def train(
    stream: TaskStream,
    runs: Sequence[RunSpec],
    strategy_class: type[Strategy],
    options: Mapping[str, Any],
    make_buffer: MakeBuffer,
) -> list[RunResult]:
    """Train every run; results in the order of `runs`, the same bits however they are stacked.

    `make_buffer(stream, runs, options, wants_logits)` builds the memory of one stack; a strategy
    without replay never calls it. On the CPU it computes with one thread (see `one_thread`).
    """
    complete = strategy_class.complete(options)
    strategy_class = suited(strategy_class, complete.classifier)
    stream.check_finite()
    _check_batch(stream, strategy_class, complete.batch)
    stream = stream.to(resolve_device(complete.device), resolve_dtype(complete.dtype))
    results: dict[int, RunResult] = {}
    with torch.no_grad(), one_thread():
        ahead = stacks(stream, runs, strategy_class, complete)
        while ahead:
            indices = ahead.pop(0)
            if stream.x.device.type != "cpu":
                gc.collect()  # cycles would keep what the last stack held in the device's memory
            trained = _train_stack(
                stream, [runs[index] for index in indices], strategy_class, complete, make_buffer
            )
            if trained is None:  # half of it may fit
                middle = len(indices) // 2
                ahead[:0] = [indices[:middle], indices[middle:]]
            else:
                results.update(zip(indices, trained, strict=True))
    return [results[index] for index in range(len(runs))]


def _train_stack(
    stream: TaskStream,
    runs: list[RunSpec],
    strategy_class: type[Strategy],
    options: MethodOptions,
    make_buffer: MakeBuffer,
) -> list[RunResult] | None:
    """The results of runs that advance together; None if the device's memory has no room for it."""
    try:
        buffer = None
        if strategy_class.replays != "none":
            buffer = make_buffer(stream, runs, options, strategy_class.wants_logits)
        return StackedTrainer(stream, runs, strategy_class, options, buffer).train()
    except torch.OutOfMemoryError:
        if len(runs) == 1:
            raise
        log.info("%d runs at once do not fit into the memory of %s", len(runs), stream.x.device)
        return None


def stacks(
    stream: TaskStream,
    runs: Sequence[RunSpec],
    strategy_class: type[Strategy],
    options: MethodOptions,
) -> list[list[int]]:
    """Indices of `runs` that advance together: same shapes, and as many as suit the device.

    A step that draws from memory has the same shape whatever the memory's size; one that
    replays all of it, or a memory smaller than a draw, has not.
    """
    item = resolve_dtype(options.dtype).itemsize
    best = at_once(stream.x.device)
    weights = stream.n_features * stream.n_classes * item
    limit = int(max(1, min(best.weights / weights, best.runs, len(runs))))
    groups: dict[Any, list[int]] = {}
    for index, run in enumerate(runs):
        small = run.buffer // stream.n_tasks < options.replay_batch
        shared = strategy_class.replay_mode(options) != "all" and not small
        key = None if shared else (run.buffer, repr(run.theta))
        groups.setdefault(key, []).append(index)
    return [
        group[start : start + limit]
        for group in groups.values()
        for start in range(0, len(group), limit)
    ]


def _check_batch(stream: TaskStream, strategy_class: type[Strategy], batch: int) -> None:
    for task, examples in enumerate(stream.train_tasks):
        if len(examples) < batch and not strategy_class.joint:
            raise UserError(
                f"batch {batch} is larger than task {task + 1} of {stream.name!r}, which has"
                f" {len(examples)} training examples: use a batch of at most that."
            )
