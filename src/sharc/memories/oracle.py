"""Control: perfect recall, the upper bound of any memory. It holds every map whole."""

import torch
from torch import Tensor

from sharc.memories.base import AssociativeMemory, Cue, Recalled, Shape


class Oracle(AssociativeMemory):
    """Keeps every map whole and looks it up by when it was written."""

    def reset(self) -> None:
        self._maps = self.zeros(0, self.shape.size)

    def write(self, x: Tensor, labels: Tensor) -> None:
        self._maps = torch.cat([self._maps, x.to(self._maps)])

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Return the written map nearest to the cue in its kept channels."""
        if not len(self._maps):
            return cue
        fixed = kept.repeat(1, self.shape.positions).to(self.dtype)
        cue = cue.to(self.dtype) * fixed
        distance = fixed @ self._maps.square().T - 2 * cue @ self._maps.T
        return self._maps[distance.argmin(dim=1)]

    def _recall_one(self, cue: Cue, n_probe: int) -> Recalled:
        if not len(self._maps):
            return super()._recall_one(cue, n_probe)
        maps = self._maps[cue.write_index].view(-1, *self.shape)
        return Recalled(maps.mean(dim=1), maps[:n_probe])

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        return shape.size

    def n_floats(self) -> dict[str, int]:
        return {"weights": self._maps.numel(), "prior": 0}
