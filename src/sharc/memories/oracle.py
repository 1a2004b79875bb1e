"""Control: perfect recall, the upper bound of any memory. It holds every map whole."""

import torch
from torch import Tensor

from sharc.memories.base import Cue, Memory, Recalled, Shape, Trace


class OracleTrace(Trace):
    """Keeps what was written and finds it again by when it was written."""

    def reset(self) -> None:
        """No map held."""
        self._maps = self.empty(0, self.shape.size)

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Keep the maps."""
        self._maps = torch.cat([self._maps, x.to(self._maps)])

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """The written map nearest to the cue in its kept channels."""
        if not len(self._maps):
            return cue
        fixed = kept.repeat(1, self.shape.positions).to(self.dtype)
        cue = cue.to(self.dtype) * fixed
        distance = fixed @ self._maps.square().T - 2 * cue @ self._maps.T
        return self._maps[distance.argmin(dim=1)]

    def _recall_one(self, cue: Cue, watch: int) -> Recalled:
        if not len(self._maps):
            return super()._recall_one(cue, watch)
        maps = self._maps[cue.serial].view(-1, *self.shape)
        return Recalled(maps.mean(dim=1), maps[:watch])

    def forget(self, beta: float) -> None:
        """An oracle forgets nothing until it is told to forget everything."""
        if beta == 1:
            self.reset()

    @classmethod
    def floats_per_item(cls, shape: Shape) -> int:
        """What one map adds."""
        return shape.size

    def n_floats(self) -> dict[str, int]:
        """Every map, dense."""
        return {"weights": self._maps.numel(), "prior": 0}


class Oracle(Memory):
    """Recalls without error."""

    trace = OracleTrace
