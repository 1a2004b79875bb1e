"""Every method by autograd on one torch.nn.Linear, one run at a time, straight from its rule.

Only what is drawn at random (order of the data, replayed rows, coins) is shared with the engine.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import quadprog
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from sharc.engine.sampling import replay_indices, task_order
from sharc.engine.task_stream import TaskStream
from sharc.randomness import generator


@dataclass
class Learner:
    model: nn.Linear
    options: dict[str, float]
    memories: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)  # x, y, logits
    drawn: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)  # this step's
    averages: dict[str, nn.Linear] = field(default_factory=dict)
    coins: Tensor = field(default_factory=lambda: torch.zeros(0, 2))
    steps: int = 0

    def descend(self, loss: Tensor) -> None:
        optimiser = torch.optim.SGD(self.model.parameters(), lr=self.options["learning_rate"])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def gradient(self, loss: Tensor) -> Tensor:
        parts = torch.autograd.grad(loss, list(self.model.parameters()))
        return torch.cat([part.flatten() for part in parts])

    def move(self, gradient: Tensor) -> None:
        weight, bias = self.model.weight, self.model.bias
        with torch.no_grad():
            rate, split = self.options["learning_rate"], weight.numel()
            weight.sub_(rate * gradient[:split].view_as(weight))
            bias.sub_(rate * gradient[split:])


def sgd(me: Learner, x: Tensor, y: Tensor) -> None:
    me.descend(cross_entropy(me.model(x), y))


def er_full(me: Learner, x: Tensor, y: Tensor) -> None:
    loss = cross_entropy(me.model(x), y)
    if me.memories:
        past = [cross_entropy(me.model(mx), my) for mx, my, _ in me.memories]
        loss = loss + me.options["memory_strength"] * sum(past) / len(past)
    me.descend(loss)


def er_sampled(me: Learner, x: Tensor, y: Tensor) -> None:
    loss = cross_entropy(me.model(x), y)
    for dx, dy, _ in me.drawn:
        loss = loss + me.options["memory_strength"] * cross_entropy(me.model(dx), dy)
    me.descend(loss)


def mer(me: Learner, x: Tensor, y: Tensor) -> None:
    across = copy.deepcopy(me.model)
    within = copy.deepcopy(me.model)
    er_sampled(me, x, y)
    interpolate(me.model, within, me.options["beta"])
    interpolate(me.model, across, me.options["gamma"])


def mer_original(me: Learner, x: Tensor, y: Tensor) -> None:
    for i in range(len(x)):
        across = copy.deepcopy(me.model)
        within = copy.deepcopy(me.model)
        if me.drawn:
            dx, dy, _ = me.drawn[i]
            for j in range(len(dx)):
                me.descend(cross_entropy(me.model(dx[j : j + 1]), dy[j : j + 1]))
        me.descend(cross_entropy(me.model(x[i : i + 1]), y[i : i + 1]))
        interpolate(me.model, within, me.options["beta"])
        interpolate(me.model, across, me.options["gamma"])


def interpolate(model: nn.Linear, start: nn.Linear, share: float) -> None:
    with torch.no_grad():
        for now, then in zip(model.parameters(), start.parameters(), strict=True):
            now.copy_(then + share * (now - then))


def gem(me: Learner, x: Tensor, y: Tensor) -> None:
    g = me.gradient(cross_entropy(me.model(x), y))
    if me.memories:
        past = [me.gradient(cross_entropy(me.model(mx), my)) for mx, my, _ in me.memories]
        g = project(g, torch.stack(past), me.options["margin"], me.options["ridge"])
    me.move(g)


def project(g: Tensor, past: Tensor, margin: float, ridge: float) -> Tensor:
    """GEM's Eq. 11 on whole gradient vectors."""
    if not bool((past @ g < 0).any()):
        return g
    matrix, vector = past.numpy(), g.numpy()
    size = len(matrix)
    hessian = matrix @ matrix.T
    hessian = (hessian + hessian.T) / 2 + ridge * np.eye(size)
    v = quadprog.solve_qp(hessian, -matrix @ vector, np.eye(size), np.full(size, margin))[0]
    return g + past.T @ torch.from_numpy(v)


def agem(me: Learner, x: Tensor, y: Tensor) -> None:
    g = me.gradient(cross_entropy(me.model(x), y))
    for dx, dy, _ in me.drawn:
        reference = me.gradient(cross_entropy(me.model(dx), dy))
        if g @ reference < 0:
            g = g - (g @ reference) / (reference @ reference) * reference
    me.move(g)


def derpp(me: Learner, x: Tensor, y: Tensor) -> None:
    loss = cross_entropy(me.model(x), y)
    if me.drawn:
        (bx, by, _), (ax, _, az) = me.drawn
        loss = loss + me.options["beta"] * cross_entropy(me.model(bx), by)
        loss = loss + me.options["alpha"] * mse_loss(me.model(ax), az)
    me.descend(loss)


def clser(me: Learner, x: Tensor, y: Tensor) -> None:
    if not me.averages:
        me.averages = {name: copy.deepcopy(me.model) for name in ("plastic", "stable")}
    loss = torch.zeros((), dtype=torch.float64)
    for dx, dy, _ in me.drawn:
        with torch.no_grad():
            plastic, stable = me.averages["plastic"](dx), me.averages["stable"](dx)
            teachers = []
            for i in range(len(dx)):
                knows = stable[i].softmax(0)[dy[i]] > plastic[i].softmax(0)[dy[i]]
                teachers.append(stable[i] if knows else plastic[i])
        loss = loss + me.options["reg"] * mse_loss(me.model(dx), torch.stack(teachers))
        x, y = torch.cat([x, dx]), torch.cat([y, dy])
    me.descend(loss + cross_entropy(me.model(x), y))
    me.steps += 1
    for column, name in enumerate(("plastic", "stable")):
        if me.coins[me.steps - 1, column] < me.options[f"{name}_freq"]:
            a = min(1 - 1 / (me.steps + 1), me.options[f"{name}_alpha"])
            interpolate_towards(me.averages[name], me.model, a)


def interpolate_towards(average: nn.Linear, model: nn.Linear, a: float) -> None:
    with torch.no_grad():
        for mean, now in zip(average.parameters(), model.parameters(), strict=True):
            mean.copy_(a * mean + (1 - a) * now)


def train_alone(
    rule: Callable[[Learner, Tensor, Tensor], None],
    stream: TaskStream,
    seed: int,
    buffer: int,
    options: dict[str, float],
    start: tuple[Tensor, Tensor],
    draws: int = 0,
) -> Learner:
    """All tasks in sequence, the last m examples of each remembered, in float64."""
    model = nn.Linear(stream.n_features, stream.n_classes, dtype=torch.float64)
    model.weight.data.copy_(start[0])
    model.bias.data.copy_(start[1])
    coins = torch.rand(1000, 2, generator=generator(seed, "ema"))
    me = Learner(model, options, coins=coins)
    m, batch = buffer // stream.n_tasks, int(options["batch"])
    x_all = stream.x.double()
    for task, examples in enumerate(stream.train_tasks):
        order = task_order(seed, task, examples)
        steps = len(order) // batch
        seen: list[Tensor] = []
        past = [torch.cat(part) for part in zip(*me.memories, strict=True)]
        if past and draws:
            size = min(int(options["replay_batch"]), len(past[1]))
            everything = torch.ones(len(past[1]), dtype=torch.bool)
            rows = replay_indices(seed, task, everything, steps, draws, size)
        for step in range(steps):
            index = order[step * batch : (step + 1) * batch]
            x, y = x_all[index], stream.y[index]
            seen.append(me.model(x).detach())
            if past and draws:
                parts = rows[step].split(size)
                me.drawn = [(past[0][p], past[1][p], past[2][p]) for p in parts]
            rule(me, x, y)
        kept = order[steps * batch - m : steps * batch]
        me.memories.append((x_all[kept], stream.y[kept], torch.cat(seen)[-m:]))
    return me
