"""BayesPCN (Yoo & Wood 2022): a predictive coding network written in closed form, one pass.

Two layers: x ~ N(relu(h) R, s²), h ~ N(mu, s²), with Gaussian beliefs over R and mu. A write
finds h and conditions the beliefs on (relu(h), x); forgetting moves them back to their prior.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from sharc.memories.base import Cue, Memory, Recalled, Trace
from sharc.memories.cues import by_mask
from sharc.memories.grams import gram, masked_grams, masked_products
from sharc.memories.joint_adam import Network, joint_read
from sharc.memories.latents import Beliefs, Seen, Written, fit, infer
from sharc.randomness import generator

EXACT = torch.float64  # of everything that is small; R itself is in the memory's dtype
GROUPS = 8  # groups of cues searched at once: they and their h x h matrices stay in the cache
AT_ONCE = 64  # maps in one joint search, whose moments are twice as large as they


class BayesPCNTrace(Trace):
    """R [K, H·W, h], its row covariance U, the mean mu and variance v of h; copies of R and mu."""

    defaults: ClassVar[dict[str, Any]] = {
        "hidden": 256,
        "sigma": 0.01,  # s of both layers
        "prior": 1.0,  # standard deviation of the beliefs before the first write
        "learning_rate": 0.01,  # of Adam
        "steps": 500,  # at most, of a write's search and of joint_adam
        "tolerance": 1e-2,  # of a write's search, nats per entry
        "write_batch": 50,  # maps written together
        "read": "collapsed",  # or joint_adam
        "read_steps": 40,  # at most, of the collapsed read
        "read_tolerance": 2e-3,  # nats per entry
        "beta": 0.1,  # share forgotten at each act of forgetting
    }

    def reset(self) -> None:
        """Draw the prior: R ~ N(0, 1/d), mu ~ N(0, 1/h), U = prior² I."""
        self._random = generator(self.seed, "memory")
        hidden, size = int(self.options["hidden"]), self.shape.size
        channels, positions = self.shape.channels, self.shape.positions
        drawn = torch.randn(channels, positions, hidden, generator=self._random)
        self._r0 = (drawn / math.sqrt(size)).to(self.device, self.dtype)
        self._mu0 = self._draw(hidden) / math.sqrt(hidden)
        self._r, self._mu = self._r0.clone(), self._mu0.clone()
        self._v0 = float(self.options["prior"]) ** 2
        self._v = self._v0
        self._u = self._v0 * torch.eye(hidden, device=self.device, dtype=EXACT)

    def _draw(self, *size: int) -> Tensor:
        drawn = torch.randn(*size, generator=self._random, dtype=EXACT)
        return drawn.to(self.device)

    @property
    def _noise(self) -> float:
        return float(self.options["sigma"]) ** 2

    def beliefs(self) -> Beliefs:
        """The state as the searches for h need it."""
        return Beliefs(self._u, self._mu, self._noise, self._noise + self._v, self.shape.size)

    def write(self, x: Tensor, labels: Tensor) -> None:
        """Write `write_batch` maps at a time."""
        for maps in self.channel_major(x).split(int(self.options["write_batch"])):
            self._write(maps)

    def _write(self, x: Tensor) -> None:
        """Find h for x [B, d] (laid out K, H·W), then condition the beliefs on both."""
        rows = self._r.flatten(0, 1)
        inner = Written(*(part.to(EXACT) for part in (x @ x.T, x @ rows, gram(rows))))
        start = self._draw(len(x), len(self._mu)) / math.sqrt(len(self._mu))
        steps, tolerance = int(self.options["steps"]), float(self.options["tolerance"])
        h = fit(
            start, inner, self.beliefs(), steps, tolerance, float(self.options["learning_rate"])
        )
        self._learn(h, x)

    def _learn(self, h: Tensor, x: Tensor) -> None:
        """The conjugate update: R and U by regression on z, mu and v by averaging h."""
        z = h.clamp_min(0)
        zu = z @ self._u
        cover = zu @ z.T
        cover.diagonal().add_(self._noise)
        gain = torch.linalg.solve(cover, zu)  # [B, h]
        rows = self._r.flatten(0, 1)
        rows.addmm_((x - z.to(x) @ rows.T).T, gain.to(x))
        covariance = self._u - gain.T @ zu
        self._u = (covariance + covariance.T) / 2  # rounding must not break the symmetry
        v = 1 / (1 / self._v + len(h) / self._noise)
        self._mu = v * (self._mu / self._v + h.sum(0) / self._noise)
        self._v = v

    @property
    def erases(self) -> float:
        """The option `beta`."""
        return float(self.options["beta"])

    def forget(self, beta: float) -> None:
        """Shrink towards the prior: means by sqrt(1 - beta), variances by 1 - beta."""
        keep = math.sqrt(1 - beta)
        self._r.mul_(keep).add_(self._r0, alpha=1 - keep)
        self._mu = keep * self._mu + (1 - keep) * self._mu0
        self._u.mul_(1 - beta).diagonal().add_(beta * self._v0)
        self._v = (1 - beta) * self._v + beta * self._v0

    def complete(self, cue: Tensor, kept: Tensor, labels: Tensor) -> Tensor:
        """Search h from the kept entries; the others follow as z R."""
        if self.options["read"] == "joint_adam":
            parts = zip(self.channel_major(cue).split(AT_ONCE), kept.split(AT_ONCE), strict=True)
            network = self._network()
            return self.position_major(
                torch.cat([joint_read(network, maps, mask, self.seed) for maps, mask in parts])
            )
        out = torch.empty_like(cue, dtype=self.dtype)
        groups = by_mask(self.shape, cue.to(self.dtype), kept, labels)
        for rows, z in zip(groups, self.latents(list(groups.values())), strict=True):
            out[list(rows)] = self.decode(z)
        return out

    def _network(self) -> Network:
        steps, rate = int(self.options["steps"]), float(self.options["learning_rate"])
        return Network(self._r.flatten(0, 1), self.beliefs(), steps, rate)

    def decode(self, z: Tensor) -> Tensor:
        """z R in the layout of maps, [n, h] -> [n, d]."""
        return self.position_major(z @ self._r.flatten(0, 1).T)

    def recall(self, cues: Sequence[Cue], watch: int) -> list[Recalled]:
        """Pooling commutes with the decoder, so only z times the pooled R is needed."""
        if not cues:
            return []
        if self.options["read"] == "joint_adam":
            return self._recall_jointly(cues, watch)
        pooled = self._r.mean(dim=1).T
        found = self.latents(cues)
        watched = [z[:watch] for z in found]
        maps = self.decode(torch.cat(watched)).view(-1, *self.shape)
        parts = maps.split([len(z) for z in watched])
        return [Recalled(z @ pooled, part) for z, part in zip(found, parts, strict=True)]

    def _recall_jointly(self, cues: Sequence[Cue], watch: int) -> list[Recalled]:
        """All cues in one search: a step costs as much for two maps as for ten."""
        columns = zip(*((cue.dense(), cue.kept, cue.labels) for cue in cues), strict=True)
        maps = self.complete(*map(torch.cat, columns)).view(-1, *self.shape)
        parts = maps.split([len(cue.labels) for cue in cues])
        return [Recalled(part.mean(dim=1), part[:watch]) for part in parts]

    def latents(self, cues: Sequence[Cue]) -> list[Tensor]:
        """z [n, h] for each cue, from its common channels."""
        beliefs = self.beliefs().to(self.dtype)
        steps, tolerance = int(self.options["read_steps"]), float(self.options["read_tolerance"])
        parts = [cue.shared() for cue in cues]
        grams = masked_grams(self._r, [kept for kept, _ in parts])
        products = masked_products(self._r, parts)
        by_size = sorted(range(len(parts)), key=lambda place: len(parts[place][1]))
        found: dict[int, Tensor] = {}
        for start in range(0, len(parts), GROUPS):  # groups of like size need little padding
            block = by_size[start : start + GROUPS]
            seen = self._seen([(parts[p][1], products[p]) for p in block], grams[block])
            latents = infer(seen, beliefs, steps, tolerance)
            found |= {
                place: z[: len(parts[place][1])] for place, z in zip(block, latents, strict=True)
            }
        return [found[place] for place in range(len(parts))]

    def _seen(self, parts: Sequence[tuple[Tensor, Tensor]], grams: Tensor) -> Seen:
        """The inner products of cues with R, padded with empty cues to the largest group."""
        most = max(len(values) for values, _ in parts)
        xr = self.empty(len(parts), most, len(self._mu))
        xx = self.empty(len(parts), most)
        for g, (values, products) in enumerate(parts):
            xr[g, : len(values)] = products
            xx[g, : len(values)] = values.to(self.dtype).square().sum(dim=1)
        return Seen(grams, xr, xx)

    def n_floats(self) -> dict[str, int]:
        """R, U, mu and v; the copies of R and mu, and the prior variance."""
        weights = self._r.numel() + self._u.numel() + self._mu.numel() + 1
        return {"weights": weights, "prior": self._r0.numel() + self._mu0.numel() + 1}


class BayesPCN(Memory):
    """The memory of the paper's experiments."""

    trace = BayesPCNTrace
