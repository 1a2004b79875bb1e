"""The eight methods of the paper as losses, against which their closed forms are tested.

They train heads that are not linear, which a closed form cannot.
"""

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.types import Examples, Replay
from sharc.options.methods import (
    CLSEROptions,
    DERppOptions,
    EROptions,
    GEMOptions,
    MEROptions,
    MethodOptions,
)
from sharc.strategies import agem, clser, derpp, er, gem, joint, mer
from sharc.strategies.by_loss import LossStrategy
from sharc.strategies.projection import solve


def mean_cross_entropy(examples: Examples) -> Tensor:
    """CE of some examples."""
    return cross_entropy(examples.logits, examples.labels)


def rehearsal(strength: float, new: Examples, replayed: Sequence[Examples]) -> Tensor:
    """CE(batch) + strength * mean over the replayed parts of CE(part)."""
    total = mean_cross_entropy(new)
    for old in replayed:
        total = total + strength / len(replayed) * mean_cross_entropy(old)
    return total


class SGD(LossStrategy):
    """L = CE(batch)."""

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return mean_cross_entropy(new)


class Joint(SGD):
    """The same on all tasks' data at once."""

    joint: ClassVar[bool] = joint.Joint.joint


class ER(LossStrategy):
    """L = CE(batch) + strength * mean over the replayed parts of CE(part)."""

    replays = er.ER.replays
    Options = EROptions
    options: EROptions

    @classmethod
    def replay_mode(cls, options: MethodOptions) -> str:
        """One part per past task, or one draw from all of them."""
        return er.ER.replay_mode(options)

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return rehearsal(self.options.memory_strength, new, replayed)


class MER(LossStrategy):
    """A step on the same loss, then w <- w_0 + beta gamma (w - w_0)."""

    replays = mer.MER.replays
    Options = MEROptions
    options: MEROptions

    def __init__(self, head: Head, runs: list[RunSpec], options: MethodOptions) -> None:
        super().__init__(head, runs, options)
        self._before = {name: w.clone() for name, w in head.parameters.items()}

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return rehearsal(self.options.memory_strength, new, replayed)

    def before_step(self) -> None:
        for name, w in self.head.parameters.items():
            self._before[name].copy_(w)

    def after_step(self) -> None:
        kept = self.options.beta * self.options.gamma
        for name, w in self.head.parameters.items():
            w.lerp_(self._before[name], 1 - kept)


class GEM(SGD):
    """g <- g + G^T v (Eq. 11) if any past task's loss would increase."""

    replays = gem.GEM.replays
    Options = GEMOptions
    options: GEMOptions

    def project(self, gradient: Tensor, past: Tensor) -> Tensor:
        """The quadratic programme over past gradients [t, P]."""
        products = past @ gradient
        if bool((products >= 0).all()):
            return gradient
        gram = (past @ past.mT).double()
        hessian = (gram + gram.mT) / 2 + self.options.ridge * torch.eye(len(past)).to(gram)
        v = solve(hessian.numpy(force=True), products.double().numpy(force=True),
                  self.options.margin)  # fmt: skip
        return torch.add(gradient, past.mT @ torch.from_numpy(v).to(past))


class AGEM(SGD):
    """If <g, g_ref> < 0: g <- g - (<g, g_ref> / <g_ref, g_ref>) g_ref."""

    replays = agem.AGEM.replays

    def project(self, gradient: Tensor, past: Tensor) -> Tensor:
        (reference,) = past
        conflict = gradient @ reference
        projected = torch.sub(gradient, conflict / (reference @ reference) * reference)
        return torch.where(conflict >= 0, gradient, projected)


class DERpp(LossStrategy):
    """L = CE(batch) + beta * CE(M_b) + alpha * MSE(z(M_a), z_stored)."""

    replays = derpp.DERpp.replays
    draws = derpp.DERpp.draws
    wants_logits: ClassVar[bool] = derpp.DERpp.wants_logits
    Options = DERppOptions
    options: DERppOptions

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        total = mean_cross_entropy(new)
        if replayed:
            b, a = replayed
            total = total + self.options.beta * mean_cross_entropy(b)
            total = total + self.options.alpha * mse_loss(a.logits, a.stored_logits)
        return total


class CLSER(LossStrategy):
    """L = CE(batch and draw together) + reg * MSE(z, z_teacher) on the draw."""

    replays = clser.CLSER.replays
    Options = CLSEROptions
    options: CLSEROptions

    def __init__(self, head: Head, runs: list[RunSpec], options: CLSEROptions) -> None:
        super().__init__(head, runs, options)
        self.copy("stable")
        self.copy("plastic")
        self._averages = clser.Averages(runs, options)

    def begin_task(self, task: int, replay: Replay | None, steps: int) -> None:
        """Draw which averages move after each step of the task."""
        super().begin_task(task, replay, steps)
        self._averages.begin_task(steps)

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        """The teacher of an example is the average that knows its label better."""
        if not replayed:
            return mean_cross_entropy(new)
        (old,) = replayed
        stable, plastic = old.logits_of["stable"], old.logits_of["plastic"]
        known, rival = (z.softmax(1).gather(1, old.labels[:, None]) for z in (stable, plastic))
        teacher = torch.where(known > rival, stable, plastic)
        logits, labels = torch.cat([new.logits, old.logits]), torch.cat([new.labels, old.labels])
        consistency = self.options.reg * mse_loss(old.logits, teacher)
        return torch.add(cross_entropy(logits, labels), consistency)

    def after_step(self) -> None:
        for name, share, runs in self._averages.moves():
            for weights, now in zip(
                self.copies[name].parameters.values(), self.head.parameters.values(), strict=True
            ):
                for run in runs:
                    weights[run].lerp_(now[run], share)

    def evaluated(self) -> Head:
        return self._all[self.options.head]

    def heads(self) -> dict[str, Head]:
        return {n: head for n, head in self._all.items() if n != self.options.head}

    def keeps_statistics(self, head: Head) -> bool:
        return head is not self.head

    @property
    def _all(self) -> dict[str, Head]:
        return {**self.copies, "working": self.head}
