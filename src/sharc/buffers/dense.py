"""The plain episodic memory: m whole examples of every past task."""

from typing import Any

import torch
from torch import Tensor

from sharc.buffers.base import Buffer, Hit
from sharc.engine.head import Head
from sharc.engine.types import Replay

FLOAT_BYTES = 4
LABEL_BYTES = 8


class DenseBuffer(Buffer):
    """Keeps examples as they are; a slot is counted as one dense feature map."""

    _logits: list[Tensor]

    def allocate(self, task: int, size: int) -> None:
        """Room for the logits of the task's examples, if they are wanted."""
        if task == 0:
            self._logits = []
        shape = (len(self.runs), size, self.stream.n_classes)
        self._logits.append(self.stream.x.new_zeros(shape if self.wants_logits else (0,)))

    def capture(self, hit: Hit, logits: Tensor | None, head: Head) -> None:
        """DER++ replays against the logits an example had when it was first seen."""
        if logits is not None:
            self._logits[-1][hit.run, hit.slot] = logits[hit.run, hit.row]

    def end_task(self, task: int, head: Head) -> None:
        """Append the task's examples to what is replayed from the next task on."""
        index = torch.cat(self.kept, dim=1)
        new = self.gather(self.kept[-1])
        x = new if self.replay is None else torch.cat([self.replay.x, new], dim=1)
        logits = torch.cat(self._logits, dim=1) if self.wants_logits else None
        y, valid = self.stream.y[index], self.all_valid()
        self.replay = Replay(x, y, logits, self.slices(), valid, kept=index)

    def ledger(self, run: int) -> dict[str, Any]:
        """Whole maps, labels and, for DER++, logits; the paper counts the first alone."""
        items = int(torch.cat(self.kept_valid, dim=1)[run].sum())
        height, width = self.stream.map_size
        values = items * height * width * self.stream.n_features
        logits = items * self.stream.n_classes if self.wants_logits else 0
        parts = {"values": values, "logits": logits}
        return {
            "items": items,
            "parts": {k: {"floats": v, "bytes": v * FLOAT_BYTES} for k, v in parts.items()}
            | {"labels": {"floats": items, "bytes": items * LABEL_BYTES}},
        }
