"""BayesPCN (Yoo & Wood 2022): a predictive coding network written in closed form, one pass.

Two layers: x ~ N(relu(h) R, s²), h ~ N(mu, s²), with Gaussian beliefs over R and mu. A write
finds h and conditions the beliefs on (relu(h), x); forgetting moves them back to their prior.
"""

import math

import torch
from torch import Tensor

from sharc.memories.predictive_coding.inference import Posterior
from sharc.memories.predictive_coding.network import EXACT, CodingNetwork
from sharc.options.memories import BayesPCNOptions


class BayesPCN(CodingNetwork):
    """R [K, H·W, h], its row covariance U, the mean mu and variance v of h; copies of R and mu."""

    Options = BayesPCNOptions
    options: BayesPCNOptions

    def reset(self) -> None:
        """Set the prior: U = prior² I, v = prior²."""
        super().reset()
        self._v0 = self.options.prior**2
        self._v = self._v0
        self._u = self._v0 * torch.eye(len(self._mu), device=self.device, dtype=EXACT)

    def posterior(self) -> Posterior:
        """The beliefs as the searches for h need them."""
        return Posterior(self._u, self._mu, self.noise, self.noise + self._v, self.shape.size)

    def learn(self, h: Tensor, x: Tensor) -> None:
        """The conjugate update: R and U by regression on z, mu and v by averaging h."""
        z = h.clamp_min(0)
        zu = z @ self._u
        cover = zu @ z.T
        cover.diagonal().add_(self.noise)
        gain = torch.linalg.solve(cover, zu)  # [B, h]
        rows = self._r.flatten(0, 1)
        rows.addmm_((x - z.to(x) @ rows.T).T, gain.to(x))
        covariance = self._u - gain.T @ zu
        self._u = (covariance + covariance.T) / 2  # rounding must not break the symmetry
        v = 1 / (1 / self._v + len(h) / self.noise)
        self._mu = v * (self._mu / self._v + h.sum(0) / self.noise)
        self._v = v

    def forget(self) -> None:
        """Shrink towards the prior: means by sqrt(1 - beta), variances by 1 - beta."""
        beta = self.options.forget_rate
        if not beta:
            return
        keep = math.sqrt(1 - beta)
        self._r.mul_(keep).add_(self._r0, alpha=1 - keep)
        self._mu = keep * self._mu + (1 - keep) * self._mu0
        self._u.mul_(1 - beta).diagonal().add_(beta * self._v0)
        self._v = (1 - beta) * self._v + beta * self._v0

    def n_floats(self) -> dict[str, int]:
        """R, U, mu and v; the copies of R and mu, and the prior variance."""
        weights = self._r.numel() + self._u.numel() + self._mu.numel() + 1
        return {"weights": weights, "prior": self._r0.numel() + self._mu0.numel() + 1}
