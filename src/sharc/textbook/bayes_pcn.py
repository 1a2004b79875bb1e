"""BayesPCN (Yoo and Wood 2022): a two-layer predictive coding network that knows its doubt.

A map x [d], d = H W K, is predicted as z R from a hidden state h [h], z = relu(h). The network
believes R to be Gaussian with mean R [h, d] and covariance U [h, h] between its rows, and h to be
Gaussian around mu [h] with variance v.
"""

import math

import torch
from torch import Tensor

from sharc.randomness import generator

EXACT = torch.float64
RATE = 0.01  # of Adam, in writing and in reading


class BayesPCN:
    """Writes by Bayes' rule, reads by minimising the energy, forgets towards its prior."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        seed: int,
        *,
        hidden: int = 256,
        sigma: float = 0.01,  # of the observation noise
        steps: int = 500,
        tolerance: float = 0.0,  # nats per entry at which the search of a write stops
        beta: float = 0.1,  # share forgotten at a time
    ) -> None:
        height, width, channels = self.shape = shape
        self.d, self.hidden = height * width * channels, hidden
        self.s2, self.steps = sigma**2, steps
        self.tolerance, self.beta = tolerance, beta
        self.random = generator(seed, "memory")
        drawn = torch.randn(channels, height * width, hidden, generator=self.random).double()
        drawn = (drawn.float() / math.sqrt(self.d)).double()
        self.r0 = drawn.permute(2, 1, 0).reshape(hidden, self.d)
        self.mu0 = self._draw(hidden) / math.sqrt(hidden)
        self.r, self.u = self.r0.clone(), torch.eye(hidden, dtype=EXACT)
        self.mu, self.v = self.mu0.clone(), 1.0

    def _draw(self, *size: int) -> Tensor:
        return torch.randn(*size, generator=self.random, dtype=EXACT)

    def write(self, maps: Tensor) -> None:
        """Eq. 7: find h for maps [n, H, W, K] held fixed, then condition R and mu on both."""
        x = maps.reshape(len(maps), self.d).to(EXACT)
        h = self._search(x)
        z = h.relu()
        gain = self.u @ z.T @ torch.linalg.inv(self._covariance(z))  # [h, n], as in a Kalman filter
        self.r = self.r + gain @ (x - z @ self.r)
        self.u = self.u - gain @ z @ self.u
        v = 1 / (1 / self.v + len(x) / self.s2)
        self.mu, self.v = v * (self.mu / self.v + h.sum(0) / self.s2), v

    def _search(self, x: Tensor) -> Tensor:
        """Hidden states [n, h] of least energy for maps x [n, d], by Adam."""
        h = (self._draw(len(x), self.hidden) / math.sqrt(self.hidden)).requires_grad_()
        adam, last = torch.optim.Adam([h], lr=RATE), math.inf
        for _ in range(self.steps):
            adam.zero_grad()
            energy = self.write_energy(h, x)
            value = float(energy.detach())
            if abs(last - value) <= self.tolerance * max(self.d * len(x), abs(value)):
                break
            last = value
            energy.backward()  # type: ignore[no-untyped-call]
            adam.step()
        return h.detach()

    def _covariance(self, z: Tensor) -> Tensor:
        """Of the n maps' entries in any one column: s^2 I + z U z^T, [n, n]."""
        return self.s2 * torch.eye(len(z), dtype=EXACT) + z @ self.u @ z.T

    def write_energy(self, h: Tensor, x: Tensor) -> Tensor:
        """Eq. 5 as a negative log-likelihood of all maps x [n, d] together, R integrated out."""
        z = h.relu()
        error, covariance = x - z @ self.r, self._covariance(z)
        data = torch.trace(torch.linalg.solve(covariance, error @ error.T)) / 2
        doubt = self.d / 2 * torch.logdet(covariance)
        return data + doubt + ((h - self.mu) ** 2).sum() / (2 * (self.s2 + self.v))

    def read(self, cue: Tensor, kept: Tensor) -> Tensor:
        """Eq. 6: complete one map [H, W, K] of which the channels kept [K] are known.

        For any h the best unknown entries are z R itself, so the search is over h alone.
        """
        fixed = kept.expand(self.shape).reshape(1, self.d)
        h, _ = self.search_read(cue.reshape(1, self.d).to(EXACT), fixed, self.steps)
        recalled = (h.relu() @ self.r).view(self.shape).to(cue)
        return torch.where(kept, cue, recalled)

    def search_read(self, x: Tensor, fixed: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Hidden states [n, h] and energies [n] after Adam from a random start."""
        start = torch.randn(
            len(x), self.hidden, generator=torch.Generator().manual_seed(5), dtype=EXACT
        )
        h = (start / math.sqrt(self.hidden)).requires_grad_()
        adam = torch.optim.Adam([h], lr=RATE)
        for _ in range(steps):
            adam.zero_grad()
            self.read_energy(h, x, fixed).sum().backward()  # type: ignore[no-untyped-call]
            adam.step()
        return h.detach(), self.read_energy(h, x, fixed).detach()

    def read_energy(self, h: Tensor, x: Tensor, fixed: Tensor) -> Tensor:
        """Eq. 5 for each map [n]: unknown entries sit at z R, so only known ones leave an error."""
        z = h.relu()
        variance = self.s2 + ((z @ self.u) * z).sum(1)
        error = (((x - z @ self.r) * fixed) ** 2).sum(1)
        prior = ((h - self.mu) ** 2).sum(1) / (2 * (self.s2 + self.v))
        return self.d / 2 * variance.log() + error / (2 * variance) + prior

    def forget(self) -> None:
        """Algorithm 1, line 14: a step of length beta back to what was believed at first."""
        a = math.sqrt(1 - self.beta)
        self.r, self.mu = a * self.r + (1 - a) * self.r0, a * self.mu + (1 - a) * self.mu0
        self.u = (1 - self.beta) * self.u + self.beta * torch.eye(self.hidden, dtype=EXACT)
        self.v = (1 - self.beta) * self.v + self.beta
