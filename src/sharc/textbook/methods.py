"""The strategies: what one step does with a batch x, y and with the past. JOINT is in sharc.py.

Shapes: B examples in a batch, C classes, P weights. Features x are maps [B, H, W, K] or their
means over positions [B, K]: the classifier takes both.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import quadprog
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.nn.utils import parameters_to_vector

from sharc.randomness import generator


@dataclass
class Examples:
    """Past examples: all of one task's, M_k, or some of all tasks'."""

    x: Tensor  # [n, ...] features, recalled where they were stored in part
    y: Tensor  # [n] labels
    z: Tensor  # [n, C] logits they had when they were first seen


class Learner:
    """The classifier f, its optimiser, and the past that a strategy may replay."""

    def __init__(self, f: nn.Module, options: Mapping[str, Any], seed: int) -> None:
        self.f, self.options = f, options
        self.optimiser = torch.optim.SGD(f.parameters(), lr=options["learning_rate"])
        self.past: list[Examples] = []  # M_k of every past task k < t
        self.draws: Iterator[Examples] = iter(())  # some of all past tasks' examples, at random
        self.averages: dict[str, nn.Module] = {}  # CLS-ER's slow copies of f
        self.coins = generator(seed, "ema")  # decide when these follow f
        self.steps = 0

    def remember(self, past: list[Examples]) -> None:
        """Take the memory that is replayed during the task that begins."""
        self.past = past
        if past:
            x, y, z = zip(*((k.x, k.y, k.z) for k in past), strict=True)
            self.memory = Examples(torch.cat(x), torch.cat(y), torch.cat(z))  # of all k < t
            shares = [torch.full_like(k.z[:, 0], 1 / len(past) / len(k.y)) for k in past]
            self.shares = torch.cat(shares)  # [n], an example's in the mean over tasks of Eq. 1

    def descend(self, loss: Tensor) -> None:
        """One step of gradient descent."""
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()

    def gradient(self, loss: Tensor) -> Tensor:
        """The gradient as one vector [P]."""
        return parameters_to_vector(torch.autograd.grad(loss, list(self.f.parameters())))

    def follow(self, gradient: Tensor) -> None:
        """One step against a vector [P] in place of the gradient."""
        parameters = list(self.f.parameters())
        parts = gradient.split([w.numel() for w in parameters])
        for w, part in zip(parameters, parts, strict=True):
            w.grad = part.view_as(w)
        self.optimiser.step()


def sgd(me: Learner, x: Tensor, y: Tensor) -> None:
    """The loss on the batch, Eq. 2's first sum, and nothing else."""
    me.descend(cross_entropy(me.f(x), y))


def er(me: Learner, x: Tensor, y: Tensor) -> None:
    """Experience replay, Eq. 2: the batch, and the whole memory of every past task.

    Eq. 2 adds up the past tasks' losses; as in the authors' code, their mean is taken.
    """
    loss = cross_entropy(me.f(x), y)
    if me.past:
        old = cross_entropy(me.f(me.memory.x), me.memory.y, reduction="none")
        loss = loss + me.options["memory_strength"] * me.shares @ old  # mean of Eq. 1 over k < t
    me.descend(loss)


def er_sampled(me: Learner, x: Tensor, y: Tensor) -> None:
    """Experience replay as others write it: the batch and a draw from the memory."""
    loss = cross_entropy(me.f(x), y)
    if me.past:
        old = next(me.draws)
        loss = loss + me.options["memory_strength"] * cross_entropy(me.f(old.x), old.y)
    me.descend(loss)


def mer(me: Learner, x: Tensor, y: Tensor) -> None:
    """Meta-experience replay: after a step, Reptile takes a part of it back.

    w <- w_0 + beta (w - w_0) within the batch, w <- w_0 + gamma (w - w_0) across batches. Here
    a batch is one step, so both start from the same w_0.
    """
    before = deepcopy(me.f)
    er_sampled(me, x, y)
    for share in (me.options["beta"], me.options["gamma"]):
        mix(me.f, before, keep=share)


def gem(me: Learner, x: Tensor, y: Tensor) -> None:
    """Gradient episodic memory: no step may increase any past task's loss (Eq. 1)."""
    g = me.gradient(cross_entropy(me.f(x), y))
    if me.past:
        each = [me.gradient(cross_entropy(me.f(past.x), past.y)) for past in me.past]
        g = project(g, torch.stack(each), me.options["margin"], me.options["ridge"])
    me.follow(g)


def project(g: Tensor, past: Tensor, margin: float, ridge: float) -> Tensor:
    """GEM's Eq. 11: g + G^T v with v = argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v, v >= margin.

    g: [P], past: G [t - 1, P]. The margin is what the paper's appendix lists as GEM's gamma.
    """
    if bool((past @ g >= 0).all()):
        return g
    one = np.eye(len(past))
    hessian = (past @ past.T).double().numpy()
    hessian = (hessian + hessian.T) / 2 + ridge * one
    linear = (past @ g).double().numpy()
    v = quadprog.solve_qp(hessian, -linear, one, np.full(len(past), margin))[0]
    return g + past.T @ torch.from_numpy(v).to(g)


def agem(me: Learner, x: Tensor, y: Tensor) -> None:
    """Averaged GEM: one reference gradient, from a draw of all past tasks."""
    g = me.gradient(cross_entropy(me.f(x), y))
    if me.past:
        old = next(me.draws)
        reference = me.gradient(cross_entropy(me.f(old.x), old.y))
        if g @ reference < 0:
            g = g - (g @ reference) / (reference @ reference) * reference
    me.follow(g)


def derpp(me: Learner, x: Tensor, y: Tensor) -> None:
    """Dark experience replay ++: one draw must keep its labels, another its old logits."""
    loss = cross_entropy(me.f(x), y)
    if me.past:
        b, a = next(me.draws), next(me.draws)
        loss = loss + me.options["beta"] * cross_entropy(me.f(b.x), b.y)
        loss = loss + me.options["alpha"] * mse_loss(me.f(a.x), a.z)
    me.descend(loss)


def clser(me: Learner, x: Tensor, y: Tensor) -> None:
    """Complementary learning systems: two slow copies of f teach it what it forgets.

    Of each replayed example, the copy that is surer of its label is the teacher.
    """
    if not me.averages:
        me.averages = {"plastic": deepcopy(me.f), "stable": deepcopy(me.f)}
    consistency = torch.zeros(())
    if me.past:
        old = next(me.draws)
        with torch.no_grad():
            stable, plastic = me.averages["stable"](old.x), me.averages["plastic"](old.x)  # [n, C]
            label = old.y[:, None]
            better = stable.softmax(1).gather(1, label) > plastic.softmax(1).gather(1, label)
            teacher = torch.where(better, stable, plastic)
        consistency = me.options["reg"] * mse_loss(me.f(old.x), teacher)
        x, y = torch.cat([x, old.x]), torch.cat([y, old.y])
    me.descend(cross_entropy(me.f(x), y) + consistency)
    me.steps += 1
    for name, coin in zip(("plastic", "stable"), torch.rand(2, generator=me.coins), strict=True):
        if coin < me.options[f"{name}_freq"]:
            decay = min(1 - 1 / (me.steps + 1), me.options[f"{name}_alpha"])
            mix(me.averages[name], me.f, keep=decay)


def mix(model: nn.Module, other: nn.Module, keep: float) -> None:
    """model <- keep * model + (1 - keep) * other."""
    with torch.no_grad():
        for mine, its in zip(model.parameters(), other.parameters(), strict=True):
            mine.mul_(keep).add_(its, alpha=1 - keep)


RULES: dict[str, Callable[[Learner, Tensor, Tensor], None]] = {
    rule.__name__: rule for rule in (sgd, er, er_sampled, mer, gem, agem, derpp, clser)
}
DRAWS = {"er_sampled": 1, "mer": 1, "agem": 1, "derpp": 2, "clser": 1}  # per step; others none
