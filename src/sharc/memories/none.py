"""Control: no memory. What was dropped stays zero, as if maps were replayed masked."""

from torch import Tensor

from sharc.memories.base import Cue, Memory, Recalled, Trace


class ZeroTrace(Trace):
    """Learns nothing."""

    def reset(self) -> None:
        """No state."""

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Nothing to learn."""

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """The cue as it is."""
        return cue

    def forget(self, beta: float) -> None:
        """Nothing to forget."""

    def n_floats(self) -> dict[str, int]:
        """Nothing held."""
        return {"weights": 0, "prior": 0}

    def _recall_one(self, cue: Cue, watch: int) -> Recalled:
        n = len(cue.index)
        return Recalled(self.empty(n, self.shape.channels), self.empty(min(watch, n), *self.shape))


class Zeros(Memory):
    """Leaves zeros."""

    trace = ZeroTrace


class Pooled(Memory):
    """Control: pooled storage. The head sees only the mean over positions, so K numbers per
    sample instead of H·W·K lose nothing, and H·W times as many samples fit (use theta 0).
    """

    trace = ZeroTrace
    pooled_storage = True
