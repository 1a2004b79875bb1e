"""Control: pooled storage. The head sees only a map's mean over its positions, so K numbers per
example instead of H·W·K lose nothing, and H·W times as many examples fit.
"""

from collections.abc import Sequence
from typing import Any

import torch

from sharc.buffers.budget import ledger_parts
from sharc.buffers.dense import DenseBuffer
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.memories.base import Shape
from sharc.options.methods import MethodOptions


class PooledBuffer(DenseBuffer):
    """Keeps pooled vectors in the space of whole maps; nothing is dropped, nothing is recalled."""

    def __init__(
        self,
        stream: TaskStream,
        runs: Sequence[RunSpec],
        options: MethodOptions,
        wants_logits: bool = False,
    ) -> None:
        super().__init__(stream, runs, options, wants_logits)
        if any(run.theta for run in runs):
            raise UserError("memory pooled drops no channels: use theta 0.")
        self.capacities = [slots * self.n_positions for slots in self.slots]

    def ledger(self, run: int) -> dict[str, Any]:
        """Count the vectors, under the same names as SHARC's."""
        items = int(torch.cat(self.kept_valid, dim=1)[run].sum())
        pooled = Shape(1, self.stream.n_features)
        return ledger_parts(pooled, [pooled.channels] * items, self.n_logits)
