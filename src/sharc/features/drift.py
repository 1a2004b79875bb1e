"""A backbone whose BatchNorm layers stay in training mode, as in the authors' code.

Its convolutions are frozen, but in training mode a BatchNorm layer normalises with the mean and
variance of each batch, and moves its running statistics towards them, r <- r + m (b - r).
Tests use the running statistics. k passes over the same batch move them k times towards the same
b, so one pass with m_k = 1 - (1 - m)^k does the same.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from sharc.errors import UserError
from sharc.features.pipeline import Extractor

MOMENTUM = 0.1  # torch's default, and ResNet18's
TEST_BATCH = 10  # 1.7 times as fast as 50 on a CPU: the maps stay in its cache


class Drift:
    """One stream's passes through the network, and the statistics they leave behind."""

    def __init__(self, extractor: Extractor, passes: Sequence[int]) -> None:
        """`passes`: for each way of counting, how often a step shows its batch to the network."""
        self.extractor, self.device = extractor, extractor.mean.device
        extractor.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.norms = [m for m in extractor.modules() if isinstance(m, _BatchNorm)]
        if not self.norms:
            raise UserError(
                "bn_mode train needs a backbone with BatchNorm layers, and this one has none: set"
                " bn_mode to eval under `protocols` in params.yaml, or choose resnet18, vgg16_bn"
                " or an efficientnet_lite in the suite."
            )
        self._pristine = [part.clone() for part in self._buffers()]
        self.passes = tuple(passes)
        self.restart()

    def restart(self) -> None:
        """Back to the statistics that came with the weights."""
        self.running = {k: [part.clone() for part in self._pristine] for k in self.passes}

    def _buffers(self) -> list[Tensor]:
        found = [(norm.running_mean, norm.running_var) for norm in self.norms]
        return [part for pair in found for part in pair if part is not None]

    def _load(self, statistics: list[Tensor]) -> None:
        for own, given in zip(self._buffers(), statistics, strict=True):
            own.copy_(given)

    @torch.inference_mode()
    def step(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Pooled vectors and maps of one batch, normalised with its own statistics."""
        self._mode(training=True)
        found: tuple[Tensor, Tensor] = self.extractor(images.to(self.device))
        seen = self._buffers()  # momentum 1 leaves the batch's own statistics here
        for k, running in self.running.items():
            torch._foreach_lerp_(running, seen, 1 - (1 - MOMENTUM) ** k)
        return found

    @torch.inference_mode()
    def test(self, images: Tensor, passes: int) -> Tensor:
        """Pooled vectors under the current running statistics."""
        self._mode(training=False)
        self._load(self.running[passes])
        parts = images.to(self.device).split(TEST_BATCH)
        return torch.cat([self.extractor(part)[0] for part in parts])

    def _mode(self, *, training: bool) -> None:
        """Only BatchNorm is ever in training mode: nothing else, such as dropout, changes."""
        for norm in self.norms:
            norm.train(training)
            norm.momentum = 1.0
