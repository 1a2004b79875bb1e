"""The diagonal of the Fisher information, from single examples' gradients."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from sharc.engine.types import Batch, Weights


def fisher_diagonal(head: Any, batches: Iterable[Batch]) -> dict[str, Tensor]:
    """Mean over a task's examples of (d log p(y | x) / d w)^2, at their own labels: [S, ...]."""

    def log_likelihood(weights: Weights, x: Tensor, label: Tensor) -> Tensor:
        return -cross_entropy(head.apply(weights, x.unsqueeze(0)), label.unsqueeze(0))

    of_examples = torch.vmap(torch.func.grad(log_likelihood), in_dims=(None, 0, 0))
    of_runs = torch.vmap(of_examples)
    total = {name: torch.zeros_like(value) for name, value in head.parameters.items()}
    count = 0
    for batch in batches:
        count += batch.x.shape[1]
        for name, gradient in of_runs(dict(head.parameters), batch.x, batch.y).items():
            total[name] += gradient.square().sum(dim=1)  # [S, n, ...] -> [S, ...]
    return {name: value / count for name, value in total.items()}
