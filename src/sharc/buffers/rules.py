"""Which examples of a task survive in its memory, known ahead from the order they come in.

Each rule maps (labels of the task in order [n], m, seed, task) to the positions [m] kept,
ascending.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from sharc.randomness import generator


def last(labels: Tensor, m: int, seed: int, task: int) -> Tensor:
    """The last m examples of the task (GEM, Lopez-Paz & Ranzato 2017, section 3)."""
    n = len(labels)
    return torch.arange(n - m, n)


def reservoir(labels: Tensor, m: int, seed: int, task: int) -> Tensor:
    """A uniform sample of the task by Vitter's algorithm R: example i replaces slot j <= i."""
    n = len(labels)
    slot = torch.arange(m)
    later = torch.arange(m, n)
    draws = torch.rand(n - m, generator=generator(seed, "buffer", task), dtype=torch.float64)
    target = (draws * (later + 1)).long()
    hit = target < m
    return slot.scatter_reduce(0, target[hit], later[hit], "amax").sort().values


def ring(labels: Tensor, m: int, seed: int, task: int) -> Tensor:
    """A ring per class (Chaudhry et al. 2019): the last examples of each class, evenly."""
    n = len(labels)
    age = torch.empty(n, dtype=torch.long)
    for label in labels.unique():
        at = (labels == label).nonzero().squeeze(1).cpu()
        age[at] = torch.arange(len(at) - 1, -1, -1)
    youngest_first = torch.argsort(age * n + (n - 1 - torch.arange(n)))
    return youngest_first[:m].sort().values


RULES: dict[str, Callable[[Tensor, int, int, int], Tensor]] = {
    "last": last,
    "reservoir": reservoir,
    "ring": ring,
}
