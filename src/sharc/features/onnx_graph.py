"""A traced extractor as an ONNX graph, operation by operation.

`torch.onnx.export` gives the same bits for a folded network, and runs as fast, but takes 3.7
seconds of CPU where this takes 0.5, in every job that starts an engine, and needs `onnxscript`.
Left to fold BatchNorm itself, ONNX Runtime gives other bits. Padding must be merged into its
convolution for the fast kernels to apply.
"""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Node

from sharc.features.onnx_operations import TRANSLATIONS, UnsupportedOperationError

OPSET, IR_VERSION = 17, 8


def to_onnx(module: nn.Module, example: Tensor) -> bytes:
    """Serialise `module`, whose inputs are like `example` but for the batch size."""
    program = export(module, (example,))
    graph = Graph(program)
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


class Graph:
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
            translation = TRANSLATIONS.get(str(node.target))
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
