"""A traced extractor as an ONNX graph, operation by operation.

Written out here because the framework's own exporter is either deprecated or needs a further
package, and because padding must be merged into its convolution for the fast kernels to apply.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Node

OPSET, IR_VERSION = 17, 8
_TYPES = {torch.float32: TensorProto.FLOAT, torch.float16: TensorProto.FLOAT16}


class UnsupportedOperationError(Exception):
    """The network uses an operation that has no translation here."""


def to_onnx(module: nn.Module, example: Tensor) -> bytes:
    """Serialise `module`, whose inputs are like `example` but for the batch size."""
    program = export(module, (example,))
    graph = _Graph(program)
    for node in program.graph.nodes:
        graph.add(node)
    shape = ["batch", *example.shape[1:]]
    source = helper.make_tensor_value_info("images", TensorProto.UINT8, shape)
    results = [
        helper.make_tensor_value_info("pooled", TensorProto.FLOAT, None),
        helper.make_tensor_value_info("maps", TensorProto.FLOAT16, None),
    ]
    proto = helper.make_graph(graph.nodes, "extractor", [source], results, graph.constants)
    model = helper.make_model(
        proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    return bytes(model.SerializeToString(deterministic=True))


class _Graph:
    """The growing list of ONNX nodes and constants."""

    def __init__(self, program: ExportedProgram) -> None:
        signature = program.graph_signature
        named = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        self.values = {name: program.state_dict[key] for name, key in named.items()}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.results: dict[str, str] = {}

    def add(self, node: Node) -> None:
        """Translate one node of the traced graph."""
        if node.op == "placeholder":
            if node.name in self.values and node.users:
                value = self.values[node.name].detach().numpy()
                self.constants.append(numpy_helper.from_array(value, node.name))
        elif node.op == "output":
            for value, name in zip(node.args[0], ("pooled", "maps"), strict=True):  # type: ignore[arg-type]
                self.emit("Identity", name, value)
        else:
            translation = _TRANSLATIONS.get(str(node.target))
            if translation is None:
                raise UnsupportedOperationError(str(node.target))
            translation(self, node)

    def emit(self, kind: str, name: str, *inputs: Any, **attributes: Any) -> None:
        """One ONNX node; Python numbers among the inputs become constants."""
        names = [self._name(value, f"{name}.{at}") for at, value in enumerate(inputs)]
        self.nodes.append(helper.make_node(kind, names, [name], name=name, **attributes))

    def _name(self, value: Any, otherwise: str) -> str:
        """The ONNX name of a value."""
        if isinstance(value, Node):
            return self.results.get(value.name, value.name)
        array = np.asarray(value, dtype=np.float32)
        self.constants.append(numpy_helper.from_array(array, otherwise))
        return otherwise


def _elementwise(kind: str) -> Callable[[_Graph, Node], None]:
    """An operation whose arguments are its ONNX inputs."""

    def translate(graph: _Graph, node: Node) -> None:
        graph.emit(kind, node.name, *node.args)

    return translate


def _convolution(graph: _Graph, node: Node) -> None:
    """Conv, with the zero padding of a pad node before it merged in."""
    defaults = [None, [1, 1], [0, 0], [1, 1], 1][len(node.args) - 2 :]
    source, weight, bias, stride, (vertical, horizontal), dilation, groups = *node.args, *defaults
    pads = [vertical, horizontal, vertical, horizontal]
    if str(source.target) == "aten.pad.default":
        source, (left, right, top, bottom) = source.args[:2]
        pads = [top + vertical, left + horizontal, bottom + vertical, right + horizontal]
    inputs = [source, weight] + ([bias] if bias is not None else [])
    graph.emit(
        "Conv", node.name, *inputs, strides=stride, pads=pads, dilations=dilation, group=groups
    )


def _pad(graph: _Graph, node: Node) -> None:
    """Only as part of a convolution: everything else would be a slow separate pass."""
    merged = all(str(user.target) == "aten.conv2d.default" for user in node.users)
    constant = len(node.args) < 3 or (node.args[2] == "constant" and not any(node.args[3:]))
    if not (merged and constant):
        raise UnsupportedOperationError("aten.pad.default outside a convolution")


def _max_pool(graph: _Graph, node: Node) -> None:
    """MaxPool without dilation or ceiling."""
    source, kernel, *rest = node.args
    stride = rest[0] if rest else kernel
    pads = rest[1] if len(rest) > 1 else [0, 0]
    sides = [*_pair(pads), *_pair(pads)]
    graph.emit(
        "MaxPool", node.name, source, kernel_shape=_pair(kernel), strides=_pair(stride), pads=sides
    )


def _pair(value: Any) -> list[int]:
    """A size given once or per axis."""
    return [value, value] if isinstance(value, int) else [*value, *value][:2]


def _mean(graph: _Graph, node: Node) -> None:
    """Mean over the spatial axes, which vanish."""
    graph.emit("ReduceMean", node.name, node.args[0], axes=node.args[1], keepdims=0)


def _permute(graph: _Graph, node: Node) -> None:
    """Axes in another order; without a list, two axes swapped."""
    graph.emit("Transpose", node.name, node.args[0], perm=(node.args[1:] or ([1, 0],))[0])


def _cast(graph: _Graph, node: Node) -> None:
    """Another data type."""
    graph.emit("Cast", node.name, node.args[0], to=_TYPES[node.args[1]])  # type: ignore[index]


def _in_place(kind: str) -> Callable[[_Graph, Node], None]:
    """An operation that overwrites its first argument, which later nodes may go on naming."""

    def translate(graph: _Graph, node: Node) -> None:
        graph.emit(kind, node.name, *node.args)
        graph.results[node.args[0].name] = node.name  # type: ignore[union-attr]

    return translate


_TRANSLATIONS: dict[str, Callable[[_Graph, Node], None]] = {
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
