"""Simplify a recorded gradient: no repeated, unused or constant computations.

Half of what torch records of a cross-entropy handles labels of -100, which it ignores; a batch has
none, so the number of labels, and with it the gradient's scale, is known.
"""

import operator
from typing import Any

import torch
from torch import Tensor, fx

_aten = torch.ops.aten
_SHAPING = (_aten.expand.default, _aten.view.default)
_VIEWS = (_aten.slice.Tensor, _aten.unsqueeze.default, *_SHAPING)
_FILLED = {_aten.ones_like.default: 1, _aten.zeros_like.default: 0}
_IGNORED = -100  # torch.nn.functional.cross_entropy's ignore_index


def simplify(traced: fx.GraphModule) -> None:
    """Rewrite the graph in place; its results stay the same bits."""
    calls = [node for node in traced.graph.nodes if node.op == "call_function"]
    if any(_target(node)._schema.is_mutable for node in calls if node.target != operator.getitem):
        return  # a loss that writes in place is run as it was recorded
    seen: dict[Any, fx.Node] = {}
    constants: dict[fx.Node, Tensor] = {}
    for node in calls:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            continue
        same = seen.setdefault((node.target, repr(node.args), repr(node.kwargs)), node)
        if same is not node:
            node.replace_all_uses_with(same)
        elif node.target in _SHAPING and _shape(node) == _shape(node.all_input_nodes[0]):
            node.replace_all_uses_with(node.all_input_nodes[0])
        elif (kept := _certain(node, constants)) is not None:
            node.replace_all_uses_with(kept)
        elif (value := _value(node, constants)) is not None:
            constants[node] = value
    _hold(traced, constants)
    traced.graph.eliminate_dead_code()
    traced.recompile()


def _certain(node: fx.Node, constants: dict[fx.Node, Tensor]) -> fx.Node | None:
    """What `where` takes if its condition is always true."""
    if node.target != _aten.where.self:
        return None
    condition, taken, _ = node.all_input_nodes if len(node.all_input_nodes) == 3 else (node,) * 3
    if condition not in constants or not bool(constants[condition].all()):
        return None
    return taken if _shape(taken) == _shape(node) else None


def _value(node: fx.Node, constants: dict[fx.Node, Tensor]) -> Tensor | None:
    """What a node is at every step, if that is known."""
    if node.target in _FILLED:
        return _full(node, _FILLED[_target(node)])
    if node.target == _aten.ne.Scalar and node.args[1] == _IGNORED and _is_given(node.args[0]):
        return _full(node, fill=True)
    if not all(used in constants for used in node.all_input_nodes):
        return None
    arguments = fx.map_arg((node.args, node.kwargs), lambda used: constants[used])
    found: Tensor = _target(node)(*arguments[0], **arguments[1])
    return found


def _is_given(node: Any) -> bool:
    """Whether a node is a whole number of the batch itself, or a view of some: a label."""
    while isinstance(node, fx.Node) and node.target in _VIEWS:
        node = node.all_input_nodes[0]
    return isinstance(node, fx.Node) and node.op == "placeholder"


def _full(node: fx.Node, fill: float | bool) -> Tensor:
    like = node.meta["val"]
    return torch.full(like.shape, fill, dtype=like.dtype, device=like.device)


def _hold(traced: fx.GraphModule, constants: dict[fx.Node, Tensor]) -> None:
    """Keep the constants that something else is made of in the module."""
    for count, (node, value) in enumerate(constants.items()):
        if all(user in constants for user in node.users):
            continue
        traced.register_buffer(f"constant{count}", value)
        with traced.graph.inserting_before(node):
            node.replace_all_uses_with(traced.graph.get_attr(f"constant{count}"))


def _target(node: fx.Node) -> Any:
    return node.target


def _shape(node: fx.Node) -> Any:
    return node.meta["val"].shape if "val" in node.meta else None
