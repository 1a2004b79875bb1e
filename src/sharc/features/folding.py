"""BatchNorm folded into the convolution before it: the same function in fewer passes over memory.

With frozen statistics, γ (Wx + b − μ) / √(σ² + ε) + β is itself a convolution.
"""

from typing import Any, TypeVar

from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Node
from torch.nn.utils.fusion import fuse_conv_bn_weights

Folded = TypeVar("Folded", bound=nn.Module)


def fold_batchnorm(module: Folded, example: Tensor) -> Folded:
    """Fold, in place, every BatchNorm that directly follows a convolution nothing else reads."""
    program = export(module, (example,))
    for node in program.graph.nodes:
        if str(node.target) != "aten.batch_norm.default":
            continue
        before = node.args[0]
        if str(before.target) == "aten.conv2d.default" and len(before.users) == 1:
            _fold(module, _owner(program, before.args[1]), _owner(program, node.args[1]))
    return module


def _owner(program: ExportedProgram, weight: Node) -> str:
    """Dotted name of the module a weight of the graph belongs to."""
    return str(program.graph_signature.inputs_to_parameters[weight.name]).rpartition(".")[0]


def _fold(module: nn.Module, convolution: str, norm: str) -> None:
    """Give the convolution the norm's scale and shift, and put nothing in the norm's place."""
    conv: Any = module.get_submodule(convolution)
    bn: Any = module.get_submodule(norm)
    conv.weight, conv.bias = fuse_conv_bn_weights(
        conv.weight,
        conv.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
    )
    parent, _, name = norm.rpartition(".")
    setattr(module.get_submodule(parent), name, nn.Identity())
