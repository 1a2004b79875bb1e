"""The methods as one would write them first: nn.Linear, autograd, SGD, one seed at a time."""

import copy
from collections.abc import Callable

import numpy as np
import quadprog
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from sharc.engine.task_stream import TaskStream

BATCH, DRAW, RATE = 10, 10, 0.1
Memory = tuple[Tensor, Tensor, Tensor, list[slice]]  # x, y, logits, rows of each past task


class Learner:
    """One run: a model, its optimiser, and what CLS-ER adds."""

    def __init__(self, stream: TaskStream, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = nn.Linear(stream.n_features, stream.n_classes)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=RATE)
        self.plastic, self.stable = copy.deepcopy(self.model), copy.deepcopy(self.model)
        self.memory: Memory | None = None
        self.steps = 0

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """Ten past examples without replacement."""
        assert self.memory is not None
        x, y, logits, _ = self.memory
        at = torch.randperm(len(y))[:DRAW]
        return x[at], y[at], logits[at]

    def descend(self, loss: Tensor) -> None:
        """One SGD step."""
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()

    def gradient(self, loss: Tensor) -> Tensor:
        """The gradient as one vector."""
        self.optimiser.zero_grad()
        loss.backward()
        return torch.cat([p.grad.flatten() for p in self.model.parameters() if p.grad is not None])

    def use(self, gradient: Tensor) -> None:
        """Put a vector back as the gradient, and step."""
        size = self.model.weight.numel()
        self.model.weight.grad = gradient[:size].view_as(self.model.weight)
        self.model.bias.grad = gradient[size:]
        self.optimiser.step()


def sgd(me: Learner, x: Tensor, y: Tensor) -> None:
    """CE(batch)."""
    me.descend(cross_entropy(me.model(x), y))


def er(me: Learner, x: Tensor, y: Tensor) -> None:
    """CE(batch) + CE(draw)."""
    loss = cross_entropy(me.model(x), y)
    if me.memory is not None:
        old_x, old_y, _ = me.draw()
        loss = loss + cross_entropy(me.model(old_x), old_y)
    me.descend(loss)


def er_full(me: Learner, x: Tensor, y: Tensor) -> None:
    """CE(batch) + CE(whole memory); tasks hold equally many, so one mean serves."""
    loss = cross_entropy(me.model(x), y)
    if me.memory is not None:
        loss = loss + cross_entropy(me.model(me.memory[0]), me.memory[1])
    me.descend(loss)


def mer(me: Learner, x: Tensor, y: Tensor) -> None:
    """ER, then both Reptile averages (no-ops at rate one, but computed)."""
    before = [p.detach().clone() for p in me.model.parameters()]
    er(me, x, y)
    with torch.no_grad():
        for _ in range(2):
            for now, then in zip(me.model.parameters(), before, strict=True):
                now.copy_(then + 1.0 * (now - then))


def gem(me: Learner, x: Tensor, y: Tensor) -> None:
    """Whole gradients, and the quadratic programme on violation."""
    if me.memory is None:
        return sgd(me, x, y)
    old_x, old_y, _, tasks = me.memory
    past = torch.stack([me.gradient(cross_entropy(me.model(old_x[k]), old_y[k])) for k in tasks])
    g = me.gradient(cross_entropy(me.model(x), y))
    products = past @ g
    if bool((products < 0).any()):
        size = np.eye(len(tasks))
        gram = (past @ past.T).double().numpy() + 1e-3 * size
        linear = -products.double().numpy()
        v = quadprog.solve_qp(gram, linear, size, np.full(len(tasks), 0.5))[0]
        g = g + past.T @ torch.from_numpy(v).float()
    return me.use(g)


def agem(me: Learner, x: Tensor, y: Tensor) -> None:
    """Project onto the half-space of the reference gradient."""
    if me.memory is None:
        return sgd(me, x, y)
    old_x, old_y, _ = me.draw()
    reference = me.gradient(cross_entropy(me.model(old_x), old_y))
    g = me.gradient(cross_entropy(me.model(x), y))
    product = g @ reference
    if product < 0:
        g = g - product / (reference @ reference) * reference
    return me.use(g)


def derpp(me: Learner, x: Tensor, y: Tensor) -> None:
    """CE(batch) + alpha MSE(draw) + beta CE(another draw)."""
    loss = cross_entropy(me.model(x), y)
    if me.memory is not None:
        a_x, _, a_z = me.draw()
        b_x, b_y, _ = me.draw()
        loss = loss + 0.1 * mse_loss(me.model(a_x), a_z)
        loss = loss + 0.5 * cross_entropy(me.model(b_x), b_y)
    me.descend(loss)


def clser(me: Learner, x: Tensor, y: Tensor) -> None:
    """CE(all) + consistency with the better of two averaged heads; then move these."""
    loss = torch.zeros(())
    if me.memory is not None:
        old_x, old_y, _ = me.draw()
        with torch.no_grad():
            stable, plastic = me.stable(old_x), me.plastic(old_x)
            label = old_y[:, None]
            better = stable.softmax(1).gather(1, label) > plastic.softmax(1).gather(1, label)
            teacher = torch.where(better, stable, plastic)
        loss = 0.15 * mse_loss(me.model(old_x), teacher)
        x, y = torch.cat([x, old_x]), torch.cat([y, old_y])
    me.descend(loss + cross_entropy(me.model(x), y))
    me.steps += 1
    keep = min(1 - 1 / (me.steps + 1), 0.999)
    for average, share in ((me.plastic, 0.3), (me.stable, 0.1)):
        if torch.rand(()) < share:
            for mean, now in zip(average.parameters(), me.model.parameters(), strict=True):
                mean.data.mul_(keep).add_(now.data, alpha=1 - keep)


PLAIN: dict[str, Callable[[Learner, Tensor, Tensor], None]] = {
    f.__name__: f for f in (sgd, er, er_full, mer, gem, agem, derpp, clser)
}


def test(model: nn.Linear, stream: TaskStream, tasks: int) -> None:
    """Accuracy on each of the first tasks: Class-IL and Task-IL."""
    for seen, index in enumerate(stream.test_tasks[:tasks]):
        answer = model(stream.test_x[index])
        _ = (answer.argmax(1) == stream.test_y[index]).float().mean()
        own = torch.tensor(stream.classes[seen])
        _ = (own[answer[:, own].argmax(1)] == stream.test_y[index]).float().mean()


def train_plain(method: str, stream: TaskStream, seed: int, buffer: int) -> nn.Linear:
    """All tasks in sequence; the last m examples of each are remembered."""
    me, step = Learner(stream, seed), PLAIN[method]
    m = buffer // stream.n_tasks
    for task, examples in enumerate(stream.train_tasks):
        order = examples[torch.randperm(len(examples))]
        for at in order.split(BATCH):
            step(me, stream.x[at], stream.y[at])
        kept = order[-m:]
        x, y = stream.x[kept], stream.y[kept]
        with torch.no_grad():
            logits = me.model(x)
            for model in (me.model, me.plastic, me.stable) if method == "clser" else (me.model,):
                test(model, stream, task + 1)
        if me.memory is not None:
            x, y = torch.cat([me.memory[0], x]), torch.cat([me.memory[1], y])
            logits = torch.cat([me.memory[2], logits])
        me.memory = (x, y, logits, [slice(k * m, (k + 1) * m) for k in range(task + 1)])
    return me.model
