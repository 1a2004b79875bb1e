"""All past examples in every step: their logits and their share of the update.

Within a task the memory's rows X_m [S, M, D] do not change. While they are fewer than the
features, their share of the head is held as coefficients A of these rows, W = W' - X_m^T A, and
their logits are carried along by the Gram matrix K = X_m X_m^T + 1:

    Z_m <- Z_m - K R_m - K_b R_b,    A <- A + R_m,    W' <- W' - X_b^T R_b,

with K_b = X_m X_b^T + 1 for the new rows. It is the same update as stepping W itself, at a cost
of M^2 C instead of 2 M D C: at 100 classes and 200 slots a fifth. With more rows than features
the rows are passed through W.
"""

import torch
from torch import Tensor

from sharc.engine.head import Head, inner_products


class Recollection:
    """The head seen from a memory whose rows take part in every step."""

    def __init__(self, head: Head, x: Tensor, y: Tensor) -> None:
        """x: [S, M, D], y: [S, M]."""
        self.head, self.x = head, x
        self.label_at = head.label_positions(y)
        self.gram = None
        if 1 < x.shape[1] < x.shape[2]:
            self.gram = inner_products(x, x).add_(1)
            self.z = head.logits(x)
            self.owed = torch.zeros_like(self.z)  # A, not yet in W

    def logits(self, new_x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of the new rows [S, B, C] and of the memory [S, M, C], and K_b^T [S, B, M]."""
        shared = inner_products(new_x, self.x).add_(1)
        if self.gram is None:
            return self.head.logits(new_x), self.head.logits(self.x), shared
        z = self.head.logits(new_x)
        self.head.add_product(z, shared, self.owed, -1.0)
        return z, self.z, shared

    def cross_entropy(self, logits: Tensor) -> Tensor:
        """softmax(z) - onehot(y) of the memory's rows."""
        return self.head.cross_entropy(logits, self.label_at)

    def descend(
        self, new_x: Tensor, new: Tensor, old: Tensor | None, shared: Tensor, rate: float
    ) -> None:
        """W <- W - rate (X_b^T R_b + X_m^T R_m), for residuals new [S, B, C], old [S, M, C]."""
        self.head.descend(new_x, new, rate)
        if self.gram is None:
            if old is not None:
                self.head.descend(self.x, old, rate)
            return
        self.head.add_product(self.z, shared.mT, new, -rate)
        if old is not None:
            self.head.add_product(self.z, self.gram, old, -rate)
            self.owed.add_(old, alpha=rate)

    def settle(self) -> None:
        """Bring W up to date, for whoever reads the head itself."""
        if self.gram is not None:
            self.head.descend(self.x, self.owed, 1.0)
            self.owed.zero_()
