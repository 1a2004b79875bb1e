"""One run's loss -> the gradient of all stacked runs, as a flat list of tensor operations.

torch.func differentiates the loss (grad) and stacks it (vmap); both cost more per operation than
a small operation itself. So they run once: what they do is recorded, and the record is run at
every step. It holds as long as the shapes do, and whatever else the loss reads is unchanged.
"""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree

from sharc.engine.simplify import simplify

Loss = Callable[..., Tensor]


class TracedGradient:
    """The gradient of `loss(weights, *rest)` with respect to weights, for runs stacked in dim 0."""

    def __init__(self, loss: Loss, arguments: tuple[Any, ...]) -> None:
        """Record it for arguments like these: pytrees of tensors [S, ...]."""
        flat, spec = _pytree.tree_flatten(arguments)
        gradient = torch.vmap(torch.func.grad(loss))

        def of_flat(*tensors: Tensor) -> list[Tensor]:
            return _pytree.tree_leaves(gradient(*_pytree.tree_unflatten(list(tensors), spec)))

        with torch.inference_mode(False), torch.no_grad(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop")  # of vmap, once
            traced = make_fx(of_flat)(*(tensor.clone() for tensor in flat))
        simplify(traced)
        self._run = traced.forward

    def __call__(self, *tensors: Tensor) -> list[Tensor]:
        """The gradient, one [S, ...] for each of the weights."""
        return list(self._run(*tensors))
