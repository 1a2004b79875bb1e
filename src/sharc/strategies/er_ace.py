"""ER with an asymmetric cross-entropy: ER-ACE (Caccia et al. 2022)."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from sharc.engine.types import Examples
from sharc.strategies.by_loss import LossStrategy


class ERACE(LossStrategy):
    """L = L_ce(X_in, C_in) + L_ce(X_bf, C_old and C_in): Eq. 5 of the paper.

    New examples compete among the classes of their own batch, C_in, so they push no older class
    down; replayed ones compete among all classes seen so far, with those of the present task
    from its first step. Nobody competes with classes to come.
    """

    replays = "sampled"

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        every = torch.arange(len(self.seen), device=self.seen.device)
        here = torch.eq(new.labels[:, None], every).any(dim=0)  # [C]
        total = cross_entropy(among(here, new.logits), new.labels)
        for old in replayed:
            total = total + cross_entropy(among(self.seen, old.logits), old.labels)
        return total


def among(classes: Tensor, logits: Tensor) -> Tensor:
    """Logits [n, C] of some classes [C] alone: the others have no probability."""
    return logits.masked_fill(~classes, -torch.inf)
