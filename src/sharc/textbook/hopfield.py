"""The modern Hopfield network: recall by attention over everything stored."""

import torch
from torch import Tensor


class ModernHopfield:
    """Ramsauer et al. 2021: X softmax(beta X^T xi), one step down the energy of Eq. 10.

    Two things differ, so that one beta fits all features: X^T xi is minus the squared distance over
    the channels that are known, standardised over the stored maps. Its state is every map written,
    so it saves no memory: a replay buffer that can be asked.
    """

    def __init__(self, beta: float = 100.0) -> None:
        self.beta = beta
        self.maps = torch.zeros(0)

    def write(self, maps: Tensor) -> None:
        """Store maps [n, H, W, K]."""
        self.maps = torch.cat([self.maps, maps]) if len(self.maps) else maps

    def read(self, cue: Tensor, kept: Tensor) -> Tensor:
        """Complete one map [H, W, K] of which the channels kept [K] are known."""
        distance = (self.maps - cue)[..., kept].square().sum(dim=(1, 2, 3))  # [N]
        score = -(distance - distance.mean()) / distance.std(correction=0).clamp_min(1e-12)
        attention = torch.softmax(self.beta * score, dim=0)  # [N]; beta -> infinity: the nearest
        recalled = torch.einsum("n,nhwk->hwk", attention, self.maps)
        return torch.where(kept, cue, recalled)

    def forget(self) -> None:
        """Nothing: it keeps all it was given."""
