"""Any architecture of torchvision or timm with a weight file of the user's own.

    backbones: {mine: {torchvision: resnet18, weights: path/to/weights.pth}}

The map is what the network itself pools: torchvision's graph is cut before its last pooling, timm's
networks provide it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.functional import adaptive_avg_pool2d

from sharc.backbones.base import IMAGENET_MEAN, IMAGENET_STD, Backbone
from sharc.errors import UserError, unknown

_SPATIAL = {(2, 3), (-2, -1), (-1, -2), (3, 2)}


class OutsideBackbone(Backbone):
    """`library` is torchvision or timm, `architecture_name` what the library calls it."""

    def __init__(self, name: str, library: str, architecture: str, weights: Path) -> None:
        super().__init__(weights)
        self.name = name
        self.library, self.called = library, architecture
        self.mean, self.std = IMAGENET_MEAN, IMAGENET_STD
        if library == "timm":
            known = _timm(name).models.get_pretrained_cfg(architecture, allow_unregistered=True)
            if known is not None:
                self.mean, self.std = known.mean, known.std

    def architecture(self, image_size: int) -> nn.Module:
        """The library's network of that name with random weights."""
        names, make = (_of_timm if self.library == "timm" else _of_torchvision)(self.name)
        if self.called not in names:
            raise UserError(
                f"backbones.{self.name}: "
                + unknown(f"architecture of {self.library}", self.called, names)
            )
        return make(self.called)

    def map_of(self, network: nn.Module) -> nn.Module:
        if self.library == "timm":
            return _TimmMaps(network, self.name)
        try:
            return cut_before_pooling(network.eval())
        except (LookupError, fx.proxy.TraceError, TypeError, NotImplementedError) as error:
            raise UserError(
                f"backbones.{self.name}: {self.called} of {self.library} has no pooling of a map "
                f"that could be found ({type(error).__name__}: {error}). Take a convolutional "
                "network, or write a class of your own with `map_of`."
            ) from None

    def default_weights(self) -> Path:
        """Never called: params.yaml names the file."""
        raise UserError(f"backbones.{self.name}.weights names no file.")


class _TimmMaps(nn.Module):
    """Every network of timm has its own `forward_features`; not every one gives a map."""

    def __init__(self, network: nn.Module, name: str) -> None:
        super().__init__()
        self.network, self.name = network, name

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, S, S) -> (N, K, H, W)."""
        maps: Tensor = self.network.forward_features(images)  # type: ignore[operator]
        if maps.ndim != 4 or maps.shape[1] != self.network.num_features:
            raise UserError(
                f"backbones.{self.name} gives {tuple(maps.shape)}, not a map of "
                f"{self.network.num_features} channels. Take a convolutional network."
            )
        return maps


def cut_before_pooling(network: nn.Module) -> nn.Module:
    """The part of `network` that computes the input of its last pooling over height and width.

    Earlier ones, of squeeze-and-excitation, only weigh channels.
    """
    traced = fx.symbolic_trace(network)
    modules = dict(traced.named_modules())
    poolings = [node for node in traced.graph.nodes if _pools(node, modules)]
    if not poolings:
        raise LookupError("nothing is pooled over height and width")
    (output,) = (node for node in traced.graph.nodes if node.op == "output")
    output.args = (poolings[-1].args[0],)
    traced.graph.eliminate_dead_code()
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced


def _pools(node: fx.Node, modules: dict[str, nn.Module]) -> bool:
    """Whether a node is an adaptive pooling, or a mean over height and width."""
    if node.op == "call_module":
        return isinstance(modules[str(node.target)], nn.AdaptiveAvgPool2d)
    if node.op == "call_function" and node.target is adaptive_avg_pool2d:
        return True
    if node.target not in ("mean", torch.mean):
        return False
    over = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
    return isinstance(over, (list, tuple)) and tuple(over) in _SPATIAL  # type: ignore[comparison-overlap]


def _of_torchvision(name: str) -> tuple[list[str], Callable[[str], nn.Module]]:
    from torchvision import models

    def make(architecture: str) -> nn.Module:
        network: nn.Module = models.get_model(architecture, weights=None)
        return network

    return models.list_models(module=models), make


def _of_timm(name: str) -> tuple[list[str], Callable[[str], nn.Module]]:
    timm = _timm(name)
    return timm.list_models(), timm.create_model


def _timm(name: str) -> Any:
    """The package, which is optional."""
    try:
        import timm
    except ImportError:
        raise UserError(f"backbones.{name} needs the package timm: pip install timm") from None
    return timm
