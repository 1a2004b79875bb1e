"""Control: no memory. Dropped channels stay zero, as if masked maps were replayed."""

from torch import Tensor

from sharc.memories.base import AssociativeMemory, Cue, Recalled


class Zeros(AssociativeMemory):
    """Learns nothing and recalls zeros."""

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Ignore the maps."""

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        return cue

    def _recall_one(self, cue: Cue, n_probe: int) -> Recalled:
        n = len(cue.index)
        pooled = self.zeros(n, self.shape.channels)
        return Recalled(pooled, self.zeros(min(n_probe, n), *self.shape))

    def n_floats(self) -> dict[str, int]:
        return {"weights": 0, "prior": 0}
