"""Finding the hidden state of a predictive coding network in closed matrix form.

A map x (d entries) is predicted as z R with z = relu(h). Both searches below see x and the
weights R only through inner products, so a step costs O(h²) instead of O(h·d).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor


class Posterior(NamedTuple):
    """What the network believes besides R: covariance U of its rows, mean and width of h."""

    u: Tensor  # [h, h]
    mu: Tensor  # [h]
    noise: float  # s²
    width: float  # s² + v
    size: int  # d

    def to(self, dtype: torch.dtype) -> "Posterior":
        """The same posterior in another precision."""
        return self._replace(u=self.u.to(dtype), mu=self.mu.to(dtype))


class WriteGrams(NamedTuple):
    """Inner products of maps X [B, d] to be written: X Xᵀ, X Rᵀ and R Rᵀ."""

    xx: Tensor
    xr: Tensor
    rr: Tensor


class Adam:
    """Kingma & Ba's rule with its usual constants.

    torch.optim.Adam rounds in another order, which would move every committed number.
    """

    def __init__(self, like: Tensor, rate: float) -> None:
        self.rate, self.count = rate, 0
        self.first, self.second = torch.zeros_like(like), torch.zeros_like(like)

    def step(self, at: Tensor, gradient: Tensor) -> Tensor:
        """The next point."""
        self.count += 1
        self.first.lerp_(gradient, 0.1)
        self.second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        scale = (self.second / (1 - 0.999**self.count)).sqrt_().add_(1e-8)
        return at - (self.rate / (1 - 0.9**self.count)) * self.first / scale


def infer_write(
    h: Tensor, maps: WriteGrams, posterior: Posterior, steps: int, tolerance: float, rate: float
) -> Tensor:
    """Hidden states [B, h] under which the maps are likeliest, jointly, by Adam.

    F = d/2 log|S| + tr(S⁻¹ E Eᵀ)/2 + |h - mu|²/(2 width), S = s² I + Z U Zᵀ, E = X - Z R.
    Stops when F changes by less than `tolerance` nats per entry of the maps, or of itself.
    """
    adam, last = Adam(h, rate), math.inf
    for _ in range(steps):
        energy, gradient = _joint_energy(h, maps, posterior)
        if abs(last - energy) <= tolerance * max(posterior.size * len(h), abs(energy)):
            break
        h, last = adam.step(h, gradient), energy
    return h


def _joint_energy(h: Tensor, maps: WriteGrams, posterior: Posterior) -> tuple[float, Tensor]:
    """F and its gradient with respect to h [B, h]."""
    z = h.clamp_min(0)
    zu, zr, zx = z @ posterior.u, z @ maps.rr, z @ maps.xr.T
    cover = zu @ z.T
    cover.diagonal().add_(posterior.noise)
    factor = torch.linalg.cholesky(cover)
    inverse = torch.cholesky_inverse(factor)
    weighted = inverse @ torch.addmm(maps.xx, zr, z.T).sub_(zx).sub_(zx.T)
    pull = h - posterior.mu
    energy = (
        posterior.size * factor.diagonal().log().sum()
        + weighted.diagonal().sum() / 2
        + pull.square().sum() / (2 * posterior.width)
    )
    spread = inverse @ zu
    slope = torch.addmm(spread, weighted, spread, beta=posterior.size, alpha=-1)
    slope.addmm_(inverse, zr.sub_(maps.xr)).mul_(h > 0)
    return float(energy), slope.add_(pull, alpha=1 / posterior.width)


class ReadGrams(NamedTuple):
    """Inner products over the kept entries M of g groups of n cues sharing their kept entries."""

    rr: Tensor  # [g, h, h] R_M R_Mᵀ
    xr: Tensor  # [g, n, h] x_M R_Mᵀ
    xx: Tensor  # [g, n]


def infer_read(grams: ReadGrams, posterior: Posterior, steps: int, tolerance: float) -> Tensor:
    """Hidden activities z >= 0 [g, n, h] for cues whose free entries follow z R (collapsed read).

    Minimises F = d/2 log v + q/(2v) + |h - mu|²/(2 width), with v = s² + z U zᵀ and
    q = |x_M - z R_M|², by accelerated projected gradient steps on v F: a quadratic with matrix
    R_M R_Mᵀ + (d - q/v) U once q/v is held, started at its ridge solution for q = 0.
    Returns each cue's best point of every fifth; stops when none gained `tolerance`·d since.
    """
    z = _ridge(grams, posterior)
    scale, top_r, top_u = _curvature(grams, posterior)
    before, momentum = z, torch.ones_like(z[..., :1])
    best_z, best = z, torch.full_like(momentum, math.inf)
    for count in range(steps + 1):
        slope, v, ratio = _slope(z, grams, posterior)
        if count % 5 == 0 or count == steps:
            energy = _energy(z, v, ratio, posterior)
            gain = best - energy
            best_z = torch.where(gain > 0, z, best_z)
            best = torch.minimum(energy, best)
            if bool(gain.max() <= tolerance * posterior.size):
                break
        rate = (top_r + (posterior.size - ratio).abs_() * top_u).reciprocal_()
        after = torch.addcmul(z, slope * scale, rate, value=-1).clamp_min_(0)
        move = after - before
        momentum.masked_fill_(_dots(slope, move) > 0, 1.0)  # it points uphill: restart
        grown = (1 + (1 + 4 * momentum.square()).sqrt()) / 2
        z = torch.addcmul(after, move, (momentum - 1) / grown).clamp_min_(0)
        before, momentum = after, grown
    return best_z


def _ridge(grams: ReadGrams, posterior: Posterior) -> Tensor:
    """The unconstrained minimum when nothing is left unexplained (q = 0), clipped at zero."""
    pull = posterior.noise / posterior.width
    matrix = grams.rr + posterior.size * posterior.u
    diagonal = matrix.diagonal(dim1=-2, dim2=-1)
    diagonal.add_(pull + 1e-4 * diagonal.mean(dim=-1, keepdim=True) + 1e-12)
    factor = torch.linalg.cholesky(matrix)
    return torch.cholesky_solve((grams.xr + pull * posterior.mu).mT, factor).mT.clamp_min(0)


def _curvature(grams: ReadGrams, posterior: Posterior) -> tuple[Tensor, Tensor, Tensor]:
    """A scale per unit [g, 1, h], and the top eigenvalues of R Rᵀ and U in that scale [g, 1, 1]."""
    diagonal = (grams.rr + posterior.size * posterior.u).diagonal(dim1=-2, dim2=-1)
    root = diagonal.clamp_min(1e-12).rsqrt().unsqueeze(1)
    top_r = _top_eigenvalue(grams.rr, root)
    top_u = _top_eigenvalue(posterior.u.expand_as(grams.rr), root)
    return root.square(), top_r, top_u


def _top_eigenvalue(matrix: Tensor, root: Tensor, rounds: int = 10) -> Tensor:
    """Power iteration on the scaled matrix, from a vector that meets every direction alike."""
    vector = torch.ones_like(root)
    norm = vector[..., :1]
    for _ in range(rounds):
        vector = ((vector * root) @ matrix) * root
        norm = vector.norm(dim=-1, keepdim=True)
        vector = vector / norm.clamp_min(1e-30)
    return norm * 1.05  # ten rounds stop a little below the top


def _slope(z: Tensor, grams: ReadGrams, posterior: Posterior) -> tuple[Tensor, Tensor, Tensor]:
    """v times the gradient of F [g, n, h]; v and q/v, each [g, n, 1]."""
    zu, zr = z @ posterior.u, torch.bmm(z, grams.rr)
    v = _dots(zu, z).clamp_min_(0).add_(posterior.noise)
    q = _dots(zr, z).sub_(_dots(grams.xr, z), alpha=2).add_(grams.xx.unsqueeze(-1)).clamp_min_(0)
    ratio, pull = q / v, v / posterior.width
    slope = zr.sub_(grams.xr).addcmul_(posterior.size - ratio, zu)
    return slope.addcmul_(pull, z).addcmul_(pull, posterior.mu, value=-1), v, ratio


def _energy(z: Tensor, v: Tensor, ratio: Tensor, posterior: Posterior) -> Tensor:
    """F [g, n, 1]. A unit at rest (z = 0) has h = min(mu, 0), the nearest to mu that rests."""
    away = z - posterior.mu
    rests = (z == 0).to(z) @ posterior.mu.clamp_max(0).square().unsqueeze(1)
    return (
        posterior.size / 2 * v.log()
        + ratio / 2
        + (_dots(away, away) - rests) / (2 * posterior.width)
    )


def _dots(a: Tensor, b: Tensor) -> Tensor:
    """Row by row, [g, n, h] -> [g, n, 1]."""
    dots: Tensor = torch.linalg.vecdot(a, b)
    return dots.unsqueeze(-1)
