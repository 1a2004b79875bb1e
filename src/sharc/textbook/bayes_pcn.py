"""BayesPCN (Yoo and Wood 2022): a two-layer predictive coding network that knows its doubt.

In the paper's Eq. 5, with L = 1: x_0 is a map x [d], d = H W K, which a hidden state x_1 = h [h]
predicts as A_0(h) = z R, z = relu(h), and omega_1, which predicts h, is its mean mu. Both errors
have variance s^2. The weights omega are beliefs: R is Gaussian with mean R [h, d] and covariance
U [h, h] between its rows, mu Gaussian with mean mu [h] and variance v.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from sharc.randomness import generator

EXACT = torch.float64  # the inverses need it


class BayesPCN:
    """Writes by Bayes' rule, reads by minimising the energy, forgets towards its prior."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        seed: int,
        *,
        hidden: int = 256,
        sigma: float = 0.01,  # of the observation noise
        steps: int = 500,  # of Adam, in writing and in reading
        beta: float = 0.1,  # share forgotten at a time
    ) -> None:
        height, width, channels = self.shape = shape
        self.d, self.hidden = height * width * channels, hidden
        self.s2, self.steps, self.beta = sigma**2, steps, beta
        self.random = generator(seed, "memory")
        drawn = torch.randn(channels, height * width, hidden, generator=self.random)
        drawn = (drawn / math.sqrt(self.d)).to(EXACT)
        self.r0 = drawn.permute(2, 1, 0).reshape(hidden, self.d)  # the first belief, R_0
        self.mu0 = self._hidden(self.random)[0]
        self.r, self.u = self.r0.clone(), torch.eye(hidden, dtype=EXACT)
        self.mu, self.v = self.mu0.clone(), 1.0

    def _hidden(self, source: torch.Generator, n: int = 1) -> Tensor:
        """Hidden states [n, h] to start a search from."""
        drawn = torch.randn(n, self.hidden, generator=source, dtype=EXACT)
        return drawn / math.sqrt(self.hidden)

    def write(self, maps: Tensor) -> None:
        """Eq. 7: find h for maps [n, H, W, K] held fixed, then condition R and mu on both."""
        x = maps.reshape(len(maps), self.d).to(EXACT)
        start = self._hidden(self.random, len(x))
        h = minimised(lambda h: self.write_energy(h, x), start, self.steps)
        z = h.relu()
        gain = self.u @ z.T @ torch.linalg.inv(self._covariance(z))  # [h, n], a Kalman filter's
        self.r = self.r + gain @ (x - z @ self.r)
        self.u = self.u - gain @ z @ self.u
        v = 1 / (1 / self.v + len(x) / self.s2)
        self.mu, self.v = v * (self.mu / self.v + h.sum(0) / self.s2), v

    def _covariance(self, z: Tensor) -> Tensor:
        """Of n maps at any one of the d entries, R integrated out: s^2 I + z U z^T, [n, n]."""
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
        known = kept.expand(self.shape).reshape(1, self.d)
        h = self.search(cue.reshape(1, self.d).to(EXACT), known, self.steps)
        recalled = (h.relu() @ self.r).view(self.shape).to(cue)
        return torch.where(kept, cue, recalled)

    def search(self, x: Tensor, known: Tensor, steps: int) -> Tensor:
        """Hidden states [n, h] of least energy for the known entries of maps x [n, d]."""
        start = self._hidden(torch.Generator().manual_seed(5), len(x))
        return minimised(lambda h: self.read_energy(h, x, known).sum(), start, steps)

    def read_energy(self, h: Tensor, x: Tensor, known: Tensor) -> Tensor:
        """Eq. 5 for each map [n]: unknown entries sit at z R, so only known ones leave an error."""
        z = h.relu()
        variance = self.s2 + ((z @ self.u) * z).sum(1)
        error = (((x - z @ self.r) * known) ** 2).sum(1)
        prior = ((h - self.mu) ** 2).sum(1) / (2 * (self.s2 + self.v))
        return self.d / 2 * variance.log() + error / (2 * variance) + prior

    def forget(self) -> None:
        """Line 14: a step of length beta back to the first beliefs, so old tasks fade the most."""
        a = math.sqrt(1 - self.beta)
        self.r, self.mu = a * self.r + (1 - a) * self.r0, a * self.mu + (1 - a) * self.mu0
        self.u = (1 - self.beta) * self.u + self.beta * torch.eye(self.hidden, dtype=EXACT)
        self.v = (1 - self.beta) * self.v + self.beta


def minimised(energy: Callable[[Tensor], Tensor], h: Tensor, steps: int) -> Tensor:
    """The h that Adam finds from here."""
    h = h.requires_grad_()
    adam = torch.optim.Adam([h], lr=0.01)
    for _ in range(steps):
        adam.zero_grad()
        energy(h).backward()  # type: ignore[no-untyped-call]
        adam.step()
    return h.detach()
