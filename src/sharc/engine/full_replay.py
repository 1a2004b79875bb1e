"""Replay of all past examples in every step: their logits and their share of the update.

Within a task the memory's rows X_m [S, M, D] do not change. While they are fewer than the
features, their share of the head is held as coefficients A of these rows, W = W' - X_m^T A, and
their logits are carried along by the Gram matrix K = X_m X_m^T + 1:

    Z_m <- Z_m - K R_m - K_b R_b,    A <- A + R_m,    W' <- W' - X_b^T R_b,

with K_b = X_m X_b^T + 1 for the new rows. It is the same update as stepping W itself, at a cost
of M (M + 2 B) C + M B D instead of 2 M D C multiplications: at 100 classes and 190 rows a
quarter. Where that does not pay, the rows are passed through W.
"""

import torch
from torch import Tensor

from sharc.engine.head import Head, inner_products
from sharc.engine.types import Batch


class FullReplay:
    """The head, updated in every step on all rows of a memory."""

    def __init__(
        self, head: Head, x: Tensor, y: Tensor, batch: int, products: bool = False
    ) -> None:
        """x: [S, M, D], y: [S, M]; `products` if K_b is wanted anyway, as GEM does."""
        self.head, self.x, self.products = head, x, products
        self.label_offsets = head.label_offsets(y)
        self.gram = None
        self._lookahead: list[Tensor] = []  # K_b^T of the next steps, the last one first
        if x.shape[1] > 1 and self._carrying_pays(batch):
            self.gram = inner_products(x, x).add_(1)
            self.z = head.logits(x)
            self.pending = torch.zeros_like(self.z)  # A, not yet in W

    def _carrying_pays(self, batch: int) -> bool:
        """Compare multiplications per memory row; 0.6 chose the faster way wherever measured."""
        n_memory, n_features = self.x.shape[1:]
        n_classes = self.head.n_classes
        carried = (n_memory + 2 * batch) * n_classes + (0 if self.products else batch * n_features)
        return carried < 0.6 * 2 * n_features * n_classes

    def logits(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits of the new rows [S, B, C] and of the memory [S, M, C]; sets `cross_gram`."""
        if self.products or self.gram is not None:
            self.cross_gram = self._cross_gram(batch)  # K_b^T, [S, B, M]
        z = self.head.logits(batch.x)
        if self.gram is None:
            return z, self.head.logits(self.x)
        self.head.add_product(z, self.cross_gram, self.pending, -1.0)
        return z, self.z

    def _cross_gram(self, batch: Batch) -> Tensor:
        """Products of the new rows with the memory's, for all known steps at once.

        Called once per step, in order.
        """
        if not self._lookahead:
            ahead = batch.x.unsqueeze(0) if batch.lookahead is None else batch.lookahead
            found = inner_products(ahead.transpose(0, 1).flatten(1, 2), self.x).add_(1)
            self._lookahead = list(found.split(ahead.shape[2], dim=1))[::-1]
        return self._lookahead.pop()

    @property
    def rows_gram(self) -> Tensor:
        """K, where it is held."""
        if self.gram is None:
            raise ValueError("these rows are passed through W: there is no Gram matrix")
        return self.gram

    def gram_times(self, old: Tensor) -> Tensor:
        """K R_m: what a step on residuals old [S, M, C] takes from every row's logits."""
        return self.head.product(self.rows_gram, old)

    def ce_residual(self, logits: Tensor) -> Tensor:
        """softmax(z) - onehot(y) of the memory's rows."""
        return self.head.ce_residual(logits, self.label_offsets)

    def descend(
        self,
        new_x: Tensor,
        new: Tensor,
        old: Tensor | None,
        rate: float,
        gram_times: Tensor | None = None,
    ) -> None:
        """W <- W - rate (X_b^T R_b + X_m^T R_m), for residuals new [S, B, C], old [S, M, C].

        `gram_times` is K times old, if the caller has it already.
        """
        self.head.descend(new_x, new, rate)
        if self.gram is None:
            if old is not None:
                self.head.descend(self.x, old, rate)
            return
        self.head.add_product(self.z, self.cross_gram.mT, new, -rate)
        if old is None:
            return
        if gram_times is None:
            self.head.add_product(self.z, self.gram, old, -rate)
        else:
            self.z.sub_(gram_times, alpha=rate)
        self.pending.add_(old, alpha=rate)

    def flush(self) -> None:
        """Bring W up to date, before the head itself is read."""
        if self.gram is not None:
            self.head.descend(self.x, self.pending, 1.0)
            self.pending.zero_()
