"""Control: pooled storage. The head sees only a map's mean over its positions, so K numbers per
example instead of H·W·K lose nothing, and H·W times as many examples fit.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sharc.buffers.dense import FLOAT_BYTES, DenseBuffer
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError


class PooledBuffer(DenseBuffer):
    """Keeps pooled vectors in the room of whole maps; nothing is dropped, nothing is recalled."""

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: Mapping[str, Any],
        wants_logits: bool = False,
    ) -> None:
        super().__init__(stream, runs, options, wants_logits)
        if any(run.theta for run in runs):
            raise UserError("memory pooled drops no channels: use theta 0.")

    def capacity(self, run: RunSpec) -> int:
        """Count H·W examples for each whole map."""
        height, width = self.stream.map_size
        return super().capacity(run) * height * width

    def ledger(self, run: int) -> dict[str, Any]:
        """Count the vectors and, as for every control beside SHARC, what a memory would hold."""
        held = super().ledger(run)
        height, width = self.stream.map_size
        parts = held["parts"]
        values = parts["values"]["floats"] // (height * width)
        parts["values"] = {"floats": values, "bytes": values * FLOAT_BYTES}
        for name in ("recalled", "memory_weights", "memory_prior", "indices"):
            parts[name] = {"floats": 0, "bytes": 0}
        return held
