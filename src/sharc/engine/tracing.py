"""One run's loss -> the gradient of all stacked runs, as a flat list of tensor operations.

torch.func differentiates the loss (grad) and stacks it (vmap); both cost more per operation than
a small operation itself. So they run once: what they do is recorded, and the record is run at
every step. It holds as long as the shapes do, and whatever else the loss reads is unchanged.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, fx
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree

Loss = Callable[..., Tensor]
_SHAPING = (torch.ops.aten.expand.default, torch.ops.aten.view.default)


class TracedGradient:
    """The gradient of `loss(weights, *rest)` with respect to weights, for runs stacked in dim 0."""

    def __init__(self, loss: Loss, arguments: tuple[Any, ...]) -> None:
        """Record it for arguments like these: pytrees of tensors [S, ...]."""
        flat, spec = _pytree.tree_flatten(arguments)
        gradient = torch.vmap(torch.func.grad(loss))

        def of_flat(*tensors: Tensor) -> list[Tensor]:
            return _pytree.tree_leaves(gradient(*_pytree.tree_unflatten(list(tensors), spec)))

        with torch.inference_mode(False), torch.no_grad():
            traced = make_fx(of_flat)(*(tensor.clone() for tensor in flat))
        _simplify(traced.graph)
        traced.recompile()
        self._run = traced.forward

    def __call__(self, *tensors: Tensor) -> list[Tensor]:
        """The gradient, one [S, ...] for each of the weights."""
        return list(self._run(*tensors))


def _simplify(graph: fx.Graph) -> None:
    """Compute nothing twice, and nothing that is not asked for."""
    seen: dict[Any, fx.Node] = {}
    calls = [node for node in graph.nodes if node.op == "call_function"]
    if any(_operation(node)._schema.is_mutable for node in calls):
        return  # a loss that writes in place is run as it was recorded
    for node in calls:
        if torch.Tag.nondeterministic_seeded in _operation(node).tags:
            continue
        same = seen.setdefault((node.target, repr(node.args), repr(node.kwargs)), node)
        if same is not node:
            node.replace_all_uses_with(same)
        elif node.target in _SHAPING and _shape(node) == _shape(node.all_input_nodes[0]):
            node.replace_all_uses_with(node.all_input_nodes[0])
    graph.eliminate_dead_code()


def _operation(node: fx.Node) -> Any:
    return node.target


def _shape(node: fx.Node) -> Any:
    return node.meta.get("tensor_meta")
