"""How each operation of a traced convolutional network reads in ONNX."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from onnx import TensorProto
from torch.fx import Node

if TYPE_CHECKING:
    from sharc.features.onnx_graph import Graph

_TYPES = {torch.float32: TensorProto.FLOAT, torch.float16: TensorProto.FLOAT16}
Translation = Callable[["Graph", Node], None]


class UnsupportedOperationError(Exception):
    """The network uses an operation that has no translation here."""


def _elementwise(kind: str) -> Translation:
    """An operation whose arguments are its ONNX inputs."""

    def translate(graph: "Graph", node: Node) -> None:
        graph.emit(kind, node.name, *node.args)

    return translate


def _convolution(graph: "Graph", node: Node) -> None:
    """Conv, with the zero padding of a pad node before it merged in."""
    given: list[Any] = list(node.args)
    defaults = [None, [1, 1], [0, 0], [1, 1], 1][len(given) - 2 :]
    source, weight, bias, stride, (vertical, horizontal), dilation, groups = given + defaults
    pads = [vertical, horizontal, vertical, horizontal]
    if str(source.target) == "aten.pad.default":
        source, (left, right, top, bottom) = source.args[:2]
        pads = [top + vertical, left + horizontal, bottom + vertical, right + horizontal]
    inputs = [source, weight] + ([bias] if bias is not None else [])
    graph.emit(
        "Conv", node.name, *inputs, strides=stride, pads=pads, dilations=dilation, group=groups
    )


def _pad(graph: "Graph", node: Node) -> None:
    """Only as part of a convolution: everything else would be a slow separate pass."""
    merged = all(str(user.target) == "aten.conv2d.default" for user in node.users)
    constant = len(node.args) < 3 or (node.args[2] == "constant" and not any(node.args[3:]))
    if not (merged and constant):
        raise UnsupportedOperationError("aten.pad.default outside a convolution")


def _max_pool(graph: "Graph", node: Node) -> None:
    """MaxPool without dilation or ceiling."""
    given: list[Any] = list(node.args)
    source, kernel, *rest = given
    stride = rest[0] if rest else kernel
    pads = rest[1] if len(rest) > 1 else [0, 0]
    sides = [*_pair(pads), *_pair(pads)]
    graph.emit(
        "MaxPool", node.name, source, kernel_shape=_pair(kernel), strides=_pair(stride), pads=sides
    )


def _pair(value: Any) -> list[int]:
    """A size given once or per axis."""
    return [value, value] if isinstance(value, int) else [*value, *value][:2]


def _mean(graph: "Graph", node: Node) -> None:
    """Mean over the spatial axes, which vanish."""
    graph.emit("ReduceMean", node.name, node.args[0], axes=node.args[1], keepdims=0)


def _permute(graph: "Graph", node: Node) -> None:
    """Axes in another order; without a list, two axes swapped."""
    graph.emit("Transpose", node.name, node.args[0], perm=(node.args[1:] or ([1, 0],))[0])


def _cast(graph: "Graph", node: Node) -> None:
    """Another data type."""
    graph.emit("Cast", node.name, node.args[0], to=_TYPES[node.args[1]])  # type: ignore[index]


def _in_place(kind: str) -> Translation:
    """An operation that overwrites its first argument, which later nodes may go on naming."""

    def translate(graph: "Graph", node: Node) -> None:
        overwritten: Any = node.args[0]
        graph.emit(kind, node.name, *node.args)
        graph.results[overwritten.name] = node.name

    return translate


TRANSLATIONS: dict[str, Translation] = {
    "aten.add.Tensor": _elementwise("Add"),
    "aten.add_.Tensor": _in_place("Add"),
    "aten.sub.Tensor": _elementwise("Sub"),
    "aten.div.Tensor": _elementwise("Div"),
    "aten.matmul.default": _elementwise("MatMul"),
    "aten.hardtanh.default": _elementwise("Clip"),
    "aten.relu.default": _elementwise("Relu"),
    "aten.relu_.default": _in_place("Relu"),
    "aten.conv2d.default": _convolution,
    "aten.pad.default": _pad,
    "aten.max_pool2d.default": _max_pool,
    "aten.mean.dim": _mean,
    "aten.permute.default": _permute,
    "aten.t.default": _permute,
    "aten.to.dtype": _cast,
    "aten._assert_tensor_metadata.default": lambda graph, node: None,
}
