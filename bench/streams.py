"""Synthetic features in the shapes of the paper's data sets, so that a benchmark needs no data."""

import time
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sharc.engine.task_stream import TaskStream

PATTERNS = 32  # of the spatial variation in synthetic maps


@dataclass(frozen=True)
class Shape:
    """Classes, tasks and the features of a data set."""

    classes: int = 10
    tasks: int = 5
    features: int = 512
    side: int = 7  # of a map
    train: int = 50_000
    test: int = 10_000


CIFAR10 = Shape()
CIFAR100 = Shape(classes=100, tasks=20)
OFFLINE = Shape(features=1280, side=4)  # EfficientNet-Lite0 at 128 pixels


def shape_of(classes: int) -> Shape:
    """Split CIFAR-10 or Split CIFAR-100."""
    return CIFAR10 if classes == CIFAR10.classes else CIFAR100


class SyntheticMaps:
    """Maps [n, H, W, K] made when read: 50,000 of them would fill 2.5 GB.

    What that takes is added up in `seconds`, for it is not training.
    """

    def __init__(self, pooled: Tensor, side: int) -> None:
        source = torch.Generator().manual_seed(1)
        self.pooled, self.side, self.seconds = pooled, side, 0.0
        patterns = torch.randn(PATTERNS, side * side, pooled.shape[1], generator=source)
        self.patterns = (patterns - patterns.mean(dim=1, keepdim=True)) / PATTERNS**0.5
        self.mixture = torch.randn(len(pooled), PATTERNS, generator=source)

    def rows(self, index: Tensor) -> Tensor:
        """The pooled features, varied over positions by a mixture of fixed patterns."""
        start = time.process_time()
        varied = 1 + 0.5 * torch.einsum("np,psk->nsk", self.mixture[index], self.patterns)
        maps = self.pooled[index].unsqueeze(1) * varied
        self.seconds += time.process_time() - start
        return maps.view(len(index), self.side, self.side, -1)


def examples(task: int, share: float) -> int:
    """How many of a task's examples are used: whole batches of ten, at least two."""
    return max(20, round(share * task / 10) * 10)


def synthetic(shape: Shape = CIFAR10, share: float = 1.0, maps: bool = False) -> TaskStream:
    """Rectified Gaussian blobs; of each task only a share of the examples is trained and tested.

    All rows exist whatever the share, so that a step gathers from as much memory as in a real
    run.
    """
    source = torch.Generator().manual_seed(0)
    centres = 0.1 * torch.randn(shape.classes, shape.features, generator=source)
    per_task = shape.classes // shape.tasks

    def split(n: int) -> tuple[Tensor, Tensor, list[Tensor]]:
        y = torch.arange(shape.classes).repeat_interleave(n // shape.classes)
        x = centres[y] + 0.3 * torch.randn(len(y), shape.features, generator=source)
        size = n // shape.tasks
        kept = examples(size, share)
        tasks = [
            start + torch.randperm(size, generator=source)[:kept]
            for start in range(0, shape.tasks * size, size)
        ]
        return x.relu_(), y, tasks

    x, y, train_tasks = split(shape.train)
    test_x, test_y, test_tasks = split(shape.test)
    own = [list(range(t * per_task, (t + 1) * per_task)) for t in range(shape.tasks)]
    stream = TaskStream(
        x, y, train_tasks, test_x, test_y, test_tasks, own, shape.classes, name="synthetic"
    )
    if not maps:
        return stream
    return replace(stream, maps=SyntheticMaps(x, shape.side), map_size=(shape.side, shape.side))


def steps(shape: Shape, share: float) -> int:
    """Training steps of one run, ten examples each."""
    return shape.tasks * examples(shape.train // shape.tasks, share) // 10
