"""Control: fill every dropped channel with the running mean of its class."""

import torch
from torch import Tensor

from sharc.memories.base import AssociativeMemory, Cue, Recalled
from sharc.options.memories import MemoryOptions


class ClassMean(AssociativeMemory):
    """One mean per class and channel."""

    Options = MemoryOptions
    options: MemoryOptions

    def reset(self) -> None:
        self._counts = self.zeros(0)  # [C]
        self._means = self.zeros(0, self.shape.channels)

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Move the mean of each class towards its new maps."""
        pooled = x.to(self.device, self.dtype).view(-1, *self.shape).mean(dim=1)
        self._make_room(int(labels.max()) + 1)
        for label in labels.unique().tolist():
            new = pooled[labels == label]
            self._counts[label] += len(new)
            self._means[label] += (new - self._means[label]).sum(0) / self._counts[label]

    def _make_room(self, classes: int) -> None:
        missing = max(0, classes - len(self._counts))
        self._counts = torch.cat([self._counts, self.zeros(missing)])
        self._means = torch.cat([self._means, self.zeros(missing, self.shape.channels)])

    def means(self, labels: Tensor) -> Tensor:
        """[n, K] for the classes `labels` [n]; zero for a class never written."""
        self._make_room(int(labels.max()) + 1)
        return self._means[labels]

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Put the same mean at every position."""
        return self.means(labels).repeat(1, self.shape.positions)

    def _recall_one(self, cue: Cue, n_probe: int) -> Recalled:
        pooled = self.means(cue.labels)
        return Recalled(pooled, pooled[:n_probe, None].expand(-1, *self.shape))

    def forget(self) -> None:
        """Shrink means and counts, so that later maps weigh more."""
        keep = 1 - self.options.forget_rate
        self._counts *= keep
        self._means *= keep

    def n_floats(self) -> dict[str, int]:
        """Count a mean per class and channel and a count per class."""
        return {"weights": self._means.numel() + self._counts.numel(), "prior": 0}
