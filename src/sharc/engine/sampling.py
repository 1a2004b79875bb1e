"""A run's random draws, from its own generators, for a whole task at a time.

Each purpose has its own generator, so the draws of a run depend neither on the other runs of its
stack nor on whether its memory is associative.
"""

import torch
from torch import Tensor

from sharc.randomness import generator


def task_order(seed: int, task: int | str, examples: Tensor) -> Tensor:
    """The task's training indices [n] in the order this run sees them."""
    order = torch.randperm(len(examples), generator=generator(seed, "order", task))
    return examples[order.to(examples.device)]


def without_replacement(population: int, rows: int, size: int, source: torch.Generator) -> Tensor:
    """`rows` independent uniform draws of `size` from range(population), without replacement.

    Floyd's algorithm for all rows at once, so the cost does not grow with the population:
    at i = population - size ... population - 1 draw t <= i; take t, or i if t is taken already.
    """
    chosen = torch.empty(rows, size, dtype=torch.long)
    uniform = torch.rand(rows, size, generator=source, dtype=torch.float64)
    for k in range(size):
        i = population - size + k
        t = (uniform[:, k] * (i + 1)).long()
        taken = (chosen[:, :k] == t[:, None]).any(dim=1)
        chosen[:, k] = torch.where(taken, i, t)
    return chosen


def replay_indices(
    seed: int, task: int, valid: Tensor, steps: int, draws: int, size: int
) -> Tensor:
    """Which memory rows each step replays: [steps, draws * size], each draw without repetition.

    valid: [M] bool on the CPU, which rows hold an example of this run.
    """
    rows = valid.nonzero().squeeze(1)
    picked = without_replacement(len(rows), steps * draws, size, generator(seed, "replay", task))
    return rows[picked].view(steps, draws * size)
