"""Train all runs of a method on a stream: grouped by shape, stacked, in lock-step."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sharc.buffers.base import Buffer
from sharc.engine.runs import RunResult, RunSpec
from sharc.engine.stream import Stream
from sharc.strategies.base import Strategy

MakeBuffer = Callable[[Stream, Sequence[RunSpec], Mapping[str, Any], bool], Buffer]


def train(
    stream: Stream,
    runs: Sequence[RunSpec],
    strategy_class: type[Strategy],
    options: Mapping[str, Any],
    make_buffer: MakeBuffer,
) -> list[RunResult]:
    """Train every run; results in the order of `runs`.

    `make_buffer(stream, runs, options, wants_logits)` builds the memory of one stack.
    """
    raise NotImplementedError
