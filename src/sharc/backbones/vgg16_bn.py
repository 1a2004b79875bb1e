"""VGG16 with BatchNorm (Simonyan & Zisserman 2015): 512 channels, 7 × 7 at 224 px."""

from pathlib import Path

from torch import nn

from sharc.backbones.base import Backbone
from sharc.backbones.published import fetched


class VGG16BN(Backbone):
    """torchvision's VGG16-BN with IMAGENET1K_V1; the map is the output of `features`."""

    name = "vgg16_bn"

    def architecture(self, image_size: int) -> nn.Module:
        """Independent of the image size."""
        from torchvision.models import vgg16_bn

        network: nn.Module = vgg16_bn(weights=None, init_weights=False)
        return network

    def map_of(self, network: nn.Module) -> nn.Module:
        """(N, 3, S, S) -> (N, 512, S/32, S/32)."""
        features: nn.Module = network.features  # type: ignore[assignment]
        return features

    def default_weights(self) -> Path:
        from torchvision.models import VGG16_BN_Weights

        return fetched(VGG16_BN_Weights.IMAGENET1K_V1, self.name)
