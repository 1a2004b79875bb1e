"""SHARC: saliency, mask, the episodic memory, and Algorithm 1 with the paper's line numbers.

Shapes: H x W positions, K channels, C classes; a feature map A is [H, W, K]. The share of channels
dropped, the paper's mu in Eq. 4 and its "Theta" in the sensitivity analysis, is theta here; the
classifier's weights, the paper's theta, are those of f.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sharc.engine.sampling import replay_indices, task_order
from sharc.engine.task_stream import TaskStream
from sharc.randomness import generator
from sharc.textbook.methods import DRAWS, RULES, Examples, Learner, sgd


class AssociativeMemory(Protocol):
    """What Algorithm 1 asks of an associative memory."""

    def write(self, maps: Tensor) -> None:
        """Learn maps [n, H, W, K]."""

    def read(self, cue: Tensor, kept: Tensor) -> Tensor:
        """Complete one map [H, W, K] of which the channels kept [K] are known."""

    def forget(self) -> None:
        """Erase a share of everything written so far."""


class Classifier(nn.Linear):
    """f: one linear layer on the mean over positions, for means [n, K] and maps [n, H, W, K]."""

    def __init__(self, channels: int, classes: int, seed: int, dtype: torch.dtype) -> None:
        super().__init__(channels, classes, dtype=dtype)
        source = generator(seed, "init")  # PyTorch's own distribution, from a generator of its own
        drawn = torch.rand(classes, channels + 1, generator=source, dtype=torch.float64)
        drawn = ((2 * drawn - 1) / math.sqrt(channels)).to(dtype)
        self.weight.data, self.bias.data = drawn[:, :-1].clone(), drawn[:, -1].clone()

    def forward(self, x: Tensor) -> Tensor:
        """Logits [n, C]."""
        return super().forward(x.mean(dim=(1, 2)) if x.ndim == 4 else x)


def saliency(f: nn.Module, maps: Tensor, y: Tensor) -> Tensor:
    """Eq. 3: alpha_k^c, the mean over positions of d f^c / d A_ij^k for c = y: [n, K]."""
    maps = maps.detach().requires_grad_()  # [n, H, W, K]
    score = f(maps).gather(1, y[:, None]).sum()  # each example's score sees its own map alone
    (gradient,) = torch.autograd.grad(score, maps)
    return gradient.mean(dim=(1, 2))


def mask(alpha: Tensor, theta: float) -> Tensor:
    """Eq. 4: keep channel k iff |alpha_k| > Q_theta, the theta-quantile, theta < 1: [n, K] bool."""
    size = alpha.abs().double()  # lest Q be rounded up to the next value
    return size > size.quantile(theta, dim=1, keepdim=True)


@dataclass
class Episode(Examples):
    """M_t: what is held of task t. x is A', with zeros for what was dropped."""

    kept: Tensor  # [m, K] which channels are held
    index: Tensor  # [m] which training images these were, to measure recall by

    def recall(self, memory: AssociativeMemory | None) -> Examples:
        """Line 3, by Eq. 6's second row: every map as the associative memory completes it."""
        x = self.x
        if memory is not None:
            pairs = zip(self.x, self.kept, strict=True)
            x = torch.stack([memory.read(cue, kept) for cue, kept in pairs])
        return Examples(x, self.y, self.z)


@dataclass
class Run:
    """What training leaves behind: the learner, its episodes, and R[t][i] in percent."""

    learner: Learner
    episodes: list[Episode]
    class_il: list[list[float]]  # accuracy on task i after task t, out of all classes
    task_il: list[list[float]]  # out of the task's own


def train(
    method: str,
    stream: TaskStream,
    seed: int,
    buffer: int,
    options: Mapping[str, Any],
    memory: AssociativeMemory | None = None,
    theta: float = 0.0,
) -> Run:
    """Algorithm 1. Without a memory: the method itself, which stores its examples whole."""
    rule, B = RULES[method], options["batch"]
    g = backbone(stream, seed, maps=memory is not None)
    f = Classifier(stream.n_features, stream.n_classes, seed, stream.x.dtype)
    me = Learner(f, options, seed)
    run = Run(me, [], [], [])  # 1: M_t <- {}
    for t, images in enumerate(stream.train_tasks):  # 2: for t = 1 to T
        me.remember([episode.recall(memory) for episode in run.episodes])  # 3: read
        order = task_order(seed, t, images)  # one epoch in random order,
        order = order[: len(order) // B * B]  # without a last, smaller batch
        m = min(capacity(stream, buffer, theta), len(order))  # M_t will be the last m examples
        me.draws = draws(me, method, seed, t, len(order) // B)
        stored = []
        for step, batch in enumerate(order.split(B)):  # 4: for each batch B_t
            A, y = g(batch), stream.y[batch]  # 7: A = g(x)
            if (step + 1) * B > len(order) - m:  # 6-10: mask and store what will still be there,
                stored.append((*masked(f, A, y, theta), batch))  # before f learns from it
            rule(me, A, y)  # 5: train the classifier, Eq. 2
        run.episodes.append(Episode(*(torch.cat(p)[-m:] for p in zip(*stored, strict=True))))
        if memory is not None:
            memory.write(g(order[-m:]))  # 12: write what is in M_t, whole, by Eq. 7
            memory.forget()  # 13-15: forget, every R = 1 tasks
        evaluate(run, stream, t)
    return run


def backbone(stream: TaskStream, seed: int, *, maps: bool) -> Callable[[Tensor], Tensor]:
    """g, which is frozen and therefore cached: image numbers to maps, or to the maps' means."""
    means, whole = stream.features_of(seed), stream.maps_of(seed) if maps else None
    if whole is None:
        return lambda index: means[index]  # [n, K]
    return lambda index: whole.rows(index).to(means)  # [n, H, W, K]


def capacity(stream: TaskStream, buffer: int, theta: float) -> int:
    """m: so many whole maps fit per task, and more of which channels were dropped."""
    K = stream.n_features
    kept = int(mask(torch.arange(1.0, K + 1)[None], theta).sum()) if theta else K  # of K, by Eq. 4
    return buffer // stream.n_tasks * K // kept


def masked(f: nn.Module, x: Tensor, y: Tensor, theta: float) -> tuple[Tensor, ...]:
    """Lines 8 and 9 for a batch: A' = mask * A, y, the logits that DER++ will want, the mask."""
    with torch.no_grad():
        z = f(x)
    kept = torch.ones(len(x), x.shape[-1], dtype=torch.bool)
    if theta:
        kept = mask(saliency(f, x, y), theta)
        x = x * kept[:, None, None, :]  # TR(1{..} (x) J) * A
    return x, y, z, kept


def draws(me: Learner, method: str, seed: int, task: int, steps: int) -> Iterator[Examples]:
    """Step by step the examples to replay, each draw without repetition from all past tasks."""
    if method in DRAWS and me.past:
        old = me.memory
        size = min(int(me.options["replay_batch"]), len(old.y))
        everything = torch.ones(len(old.y), dtype=torch.bool)
        rows = replay_indices(seed, task, everything, steps, DRAWS[method], size)
        for drawn in rows.view(-1, size):
            yield Examples(old.x[drawn], old.y[drawn], old.z[drawn])


def train_jointly(stream: TaskStream, seed: int, options: Mapping[str, Any]) -> nn.Module:
    """JOINT, the upper bound: SGD for one epoch over all tasks' data at once."""
    f = Classifier(stream.n_features, stream.n_classes, seed, stream.x.dtype)
    me = Learner(f, options, seed)
    for batch in task_order(seed, "joint", torch.cat(stream.train_tasks)).split(options["batch"]):
        sgd(me, stream.features_of(seed)[batch], stream.y[batch])
    return f


@torch.no_grad()
def evaluate(run: Run, stream: TaskStream, t: int) -> None:
    """Accuracy on every task so far: out of all classes, and out of the task's own."""
    me = run.learner
    f = me.averages.get(me.options["head"], me.f) if me.averages else me.f  # CLS-ER: one of three
    run.class_il.append([])
    run.task_il.append([])
    for i in range(t + 1):
        index, own = stream.test_tasks[i], torch.tensor(stream.classes[i])
        z, y = f(stream.test_x[index]), stream.test_y[index]
        run.class_il[t].append(100 * float((z.argmax(1) == y).double().mean()))
        run.task_il[t].append(100 * float((own[z[:, own].argmax(1)] == y).double().mean()))
