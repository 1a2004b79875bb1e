"""The plain episodic memory: m whole examples of every past task."""

from typing import Any

import torch

from sharc.buffers.base import Buffer
from sharc.buffers.budget import FLOAT_BYTES, LABEL_BYTES
from sharc.engine.head import Head


class DenseBuffer(Buffer):
    """Keeps whole examples; a slot costs one dense feature map."""

    def end_task(self, task: int, head: Head) -> None:
        """Append the task's examples to what is replayed from the next task on."""
        self.replay = self.replay_of()

    def ledger(self, run: int) -> dict[str, Any]:
        """Count whole maps, labels and, for DER++, logits; the paper counts only the maps."""
        items = int(torch.cat(self.kept_valid, dim=1)[run].sum())
        values = items * self.n_positions * self.stream.n_features
        parts = {"values": values, "logits": items * self.n_logits}
        return {
            "items": items,
            "parts": {k: {"floats": v, "bytes": v * FLOAT_BYTES} for k, v in parts.items()}
            | {"labels": {"floats": items, "bytes": items * LABEL_BYTES}},
        }
