"""BayesPCN over the full map, by autograd, as its equations read."""

import math

import torch
from torch import Tensor

from sharc.randomness import generator


class NaiveBayesPCN:
    """Double precision throughout; the same draws as the fast one."""

    def __init__(self, positions: int, channels: int, seed: int, **options: float) -> None:
        self.o = {"hidden": 256, "sigma": 0.01, "rate": 0.01, "steps": 500, "tolerance": 0.0}
        self.o |= options
        self.random = generator(seed, "memory")
        hidden, self.d = int(self.o["hidden"]), positions * channels
        drawn = torch.randn(channels, positions, hidden, generator=self.random).double()
        weights = drawn.float() / math.sqrt(self.d)  # the fast one draws in single precision
        self.r0 = weights.double().permute(2, 1, 0).reshape(hidden, self.d)
        self.mu0 = self.draw(hidden) / math.sqrt(hidden)
        self.r, self.mu, self.v = self.r0.clone(), self.mu0.clone(), 1.0
        self.u = torch.eye(hidden, dtype=torch.float64)
        self.s2 = self.o["sigma"] ** 2

    def draw(self, *size: int) -> Tensor:
        return torch.randn(*size, generator=self.random, dtype=torch.float64)

    def joint_energy(self, h: Tensor, x: Tensor) -> Tensor:
        z = h.relu()
        e = x - z @ self.r
        s = self.s2 * torch.eye(len(x), dtype=torch.float64) + z @ self.u @ z.T
        data = self.d / 2 * torch.logdet(s) + torch.trace(torch.linalg.solve(s, e @ e.T)) / 2
        return data + ((h - self.mu) ** 2).sum() / (2 * (self.s2 + self.v))

    def write(self, x: Tensor) -> None:
        hidden = len(self.mu)
        h = (self.draw(len(x), hidden) / math.sqrt(hidden)).requires_grad_()
        adam = torch.optim.Adam([h], lr=self.o["rate"])
        last = math.inf
        for _ in range(int(self.o["steps"])):
            adam.zero_grad()
            energy = self.joint_energy(h, x)
            value = float(energy.detach())
            if abs(last - value) <= self.o["tolerance"] * max(self.d * len(x), abs(value)):
                break
            last = value
            energy.backward()
            adam.step()
        h = h.detach()
        z = h.relu()
        s = self.s2 * torch.eye(len(x), dtype=torch.float64) + z @ self.u @ z.T
        k = self.u @ z.T @ torch.linalg.inv(s)
        self.r = self.r + k @ (x - z @ self.r)
        self.u = self.u - k @ z @ self.u
        v = 1 / (1 / self.v + len(x) / self.s2)
        self.mu, self.v = v * (self.mu / self.v + h.sum(0) / self.s2), v

    def forget(self, beta: float) -> None:
        a = math.sqrt(1 - beta)
        self.r, self.mu = a * self.r + (1 - a) * self.r0, a * self.mu + (1 - a) * self.mu0
        self.u = (1 - beta) * self.u + beta * torch.eye(len(self.u), dtype=torch.float64)
        self.v = (1 - beta) * self.v + beta

    def collapsed_energy(self, h: Tensor, x: Tensor, kept: Tensor) -> Tensor:
        """[n]: the free entries sit at their optimum z R, so only kept ones leave an error."""
        z = h.relu()
        v = self.s2 + ((z @ self.u) * z).sum(1)
        q = (((x - z @ self.r) * kept) ** 2).sum(1)
        top = ((h - self.mu) ** 2).sum(1) / (2 * (self.s2 + self.v))
        return self.d / 2 * v.log() + q / (2 * v) + top

    def read_by_adam(self, x: Tensor, kept: Tensor, steps: int = 500) -> tuple[Tensor, Tensor]:
        """Hidden states and energies after Adam from a random start."""
        g = torch.Generator().manual_seed(5)
        hidden = len(self.mu)
        h = torch.randn(len(x), hidden, generator=g, dtype=torch.float64) / math.sqrt(hidden)
        h.requires_grad_()
        adam = torch.optim.Adam([h], lr=self.o["rate"])
        for _ in range(steps):
            adam.zero_grad()
            self.collapsed_energy(h, x, kept).sum().backward()
            adam.step()
        return h.detach(), self.collapsed_energy(h, x, kept).detach()
