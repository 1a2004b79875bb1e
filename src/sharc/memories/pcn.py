"""Predictive coding network (Salvatori et al. 2021): BayesPCN's graph without uncertainty.

The variance is s² throughout; a write finds h for the maps and takes gradient steps on the
weights. There is no prior to return to, so forgetting decays the weights.
"""

from typing import Any, ClassVar

import torch
from torch import Tensor

from sharc.memories.base import Memory
from sharc.memories.bayes_pcn import EXACT, BayesPCNTrace
from sharc.memories.latents import Beliefs


class PCNTrace(BayesPCNTrace):
    """R and mu alone."""

    defaults: ClassVar[dict[str, Any]] = BayesPCNTrace.defaults | {
        "weight_steps": 1,  # gradient steps per write: 1 is online, 20 nearly fits the batch
        "weight_rate": 1.0,  # eta / s²
        "beta": 0.0,
    }

    def reset(self) -> None:
        """Draw R and mu as BayesPCN does; U stays zero."""
        super().reset()
        self._u = self._u.new_zeros(1, 1).expand_as(self._u)
        self._v = 0.0

    def beliefs(self) -> Beliefs:
        """No uncertainty: both layers have variance s²."""
        return super().beliefs()._replace(width=self._noise)

    def _learn(self, h: Tensor, x: Tensor) -> None:
        """n steps R += rate/B Zᵀ E and mu += rate/B sum(h - mu), summed in closed form.

        The rate is capped at B over the top eigenvalue of Z Zᵀ, beyond which steps diverge.
        """
        z, count = h.clamp_min(0), len(h)
        overlap = z @ z.T / count
        top = float(torch.linalg.eigvalsh(overlap)[-1])
        rate = min(float(self.options["weight_rate"]), 1 / max(top, 1e-12))
        steps = int(self.options["weight_steps"])
        left = torch.eye(count, device=z.device, dtype=EXACT)
        total = torch.zeros_like(left)
        for _ in range(steps):
            total += left
            left = left - rate * overlap @ left
        rows = self._r.flatten(0, 1)
        gain = (rate / count) * total @ z  # [B, h]
        rows.addmm_((x - z.to(x) @ rows.T).T, gain.to(x))
        self._mu = self._mu + (1 - (1 - rate) ** steps) * (h.mean(dim=0) - self._mu)

    def forget(self, beta: float) -> None:
        """Decay towards the first weights."""
        keep = 1 - beta
        self._r.mul_(keep).add_(self._r0, alpha=beta)
        self._mu = keep * self._mu + beta * self._mu0

    def n_floats(self) -> dict[str, int]:
        """R and mu, and their copies for forgetting; one zero stands for all of U."""
        held = self._r.numel() + self._mu.numel() + 1
        return {"weights": held, "prior": self._r0.numel() + self._mu0.numel()}


class PCN(Memory):
    """A network trained by local errors."""

    trace = PCNTrace
