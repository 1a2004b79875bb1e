"""Predictive coding network (Salvatori et al. 2021): BayesPCN's graph without uncertainty.

The variance is s² throughout; a write finds h for the maps and takes gradient steps on the
weights. There is no prior to return to, so forgetting decays the weights.
"""

import torch
from torch import Tensor

from sharc.memories.predictive_coding.inference import Posterior
from sharc.memories.predictive_coding.network import EXACT, CodingNetwork
from sharc.options.memories import PCNOptions


class PCN(CodingNetwork):
    """R and mu alone."""

    Options = PCNOptions
    options: PCNOptions

    def reset(self) -> None:
        """No uncertainty about R: U is zero."""
        super().reset()
        hidden = len(self._mu)
        self._u = self._mu.new_zeros(1, 1).expand(hidden, hidden)

    def posterior(self) -> Posterior:
        """Both layers have variance s²."""
        return Posterior(self._u, self._mu, self.noise, self.noise, self.shape.size)

    def learn(self, h: Tensor, x: Tensor) -> None:
        """n steps R += rate/B Zᵀ E and mu += rate/B sum(h - mu), summed in closed form.

        The rate is capped at B over the top eigenvalue of Z Zᵀ, beyond which steps diverge.
        """
        z, count = h.clamp_min(0), len(h)
        overlap = z @ z.T / count
        top = float(torch.linalg.eigvalsh(overlap)[-1])
        rate = min(self.options.weight_rate, 1 / max(top, 1e-12))
        steps = self.options.weight_steps
        left = torch.eye(count, device=z.device, dtype=EXACT)
        total = torch.zeros_like(left)
        for _ in range(steps):
            total += left
            left = left - rate * overlap @ left
        rows = self._r.flatten(0, 1)
        gain = (rate / count) * total @ z  # [B, h]
        rows.addmm_((x - z.to(x) @ rows.T).T, gain.to(x))
        self._mu = self._mu + (1 - (1 - rate) ** steps) * (h.mean(dim=0) - self._mu)

    def forget(self) -> None:
        """Decay towards the first weights."""
        beta = self.options.forget_rate
        if not beta:
            return
        keep = 1 - beta
        self._r.mul_(keep).add_(self._r0, alpha=beta)
        self._mu = keep * self._mu + beta * self._mu0

    def n_floats(self) -> dict[str, int]:
        """R and mu, and their copies for forgetting; all of U is one zero."""
        held = self._r.numel() + self._mu.numel() + 1
        return {"weights": held, "prior": self._r0.numel() + self._mu0.numel()}
