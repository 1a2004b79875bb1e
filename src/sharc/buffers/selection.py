"""Which examples of a task remain in its memory, known in advance from their order.

Each rule maps (labels of the task in order [n], m, seed, task, batch) to the positions kept,
at most m, ascending.
"""

from collections import deque
from collections.abc import Callable

import torch
from torch import Tensor

from sharc.randomness import generator


def last(labels: Tensor, m: int, seed: int, task: int, batch: int) -> Tensor:
    """The last m examples of the task (GEM, Lopez-Paz & Ranzato 2017, section 3)."""
    n = len(labels)
    return torch.arange(n - m, n)


def reservoir(labels: Tensor, m: int, seed: int, task: int, batch: int) -> Tensor:
    """A uniform sample of the task by Vitter's algorithm R: example i replaces slot j <= i."""
    n = len(labels)
    slot = torch.arange(m)
    later = torch.arange(m, n)
    draws = torch.rand(n - m, generator=generator(seed, "buffer", task), dtype=torch.float64)
    target = (draws * (later + 1)).long()
    enters = target < m
    return slot.scatter_reduce(0, target[enters], later[enters], "amax").sort().values


def ring(labels: Tensor, m: int, seed: int, task: int, batch: int) -> Tensor:
    """A ring per class (Chaudhry et al. 2019): the last examples of each class, evenly."""
    n = len(labels)
    age = torch.empty(n, dtype=torch.long)
    for label in labels.unique():
        at = (labels == label).nonzero().squeeze(1).cpu()
        age[at] = torch.arange(len(at) - 1, -1, -1)
    youngest_first = torch.argsort(age * n + (n - 1 - torch.arange(n)))
    return youngest_first[:m].sort().values


def batch_prefix(labels: Tensor, m: int, seed: int, task: int, batch: int) -> Tensor:
    """The authors' code: first in, first out, but only the beginning of each batch is admitted."""
    return prefixes_that_fit(torch.ones(len(labels), dtype=torch.long), m, batch)


def prefixes_that_fit(costs: Tensor, room: int, batch: int) -> Tensor:
    """Positions held at the end, when position i costs costs[i] of `room`.

    The first batch is stored whatever it costs. A later one that fits is appended whole;
    otherwise the oldest examples are evicted until the whole batch would fit, and only as many of
    its examples as were evicted are admitted, its first ones. A batch that would not fit even then
    is dropped, and nothing is evicted for it.
    """
    values = costs.tolist()
    held: deque[int] = deque()
    used = 0
    for start in range(0, len(values), batch):
        new = range(start, min(start + batch, len(values)))
        need = sum(values[i] for i in new)
        entering = len(new)
        if held and used + need > room:
            if need > room:
                continue
            entering = 0
            while used + need > room:
                used -= values[held.popleft()]
                entering += 1
        held.extend(new[:entering])
        used += sum(values[i] for i in new[:entering])
    return torch.tensor(held, dtype=torch.long)


SEQUENTIAL_RULES = ("last", "batch_prefix")  # rules for examples that differ in cost


def fit_to_budget(rule: str, costs: Tensor, room: int, batch: int) -> Tensor:
    """Positions that a rule of SEQUENTIAL_RULES keeps of examples that cost [n]; never none."""
    if rule == "batch_prefix":
        return prefixes_that_fit(costs, room, batch)
    fits = costs.flip(0).cumsum(0).flip(0) <= room
    fits[-1] = True
    return fits.nonzero().squeeze(1)


RULES: dict[str, Callable[[Tensor, int, int, int, int], Tensor]] = {
    "last": last,
    "batch_prefix": batch_prefix,
    "reservoir": reservoir,
    "ring": ring,
}
