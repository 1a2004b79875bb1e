"""ResNet18 (He et al. 2016), the paper's backbone: 512 channels, 7 × 7 at 224 px."""

from pathlib import Path

from torch import Tensor, nn

from sharc.backbones.base import Backbone
from sharc.backbones.published import fetched


class TorchvisionMaps(nn.Module):
    """Stem and the four stages: torchvision's forward pass without pooling and classifier."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        names = ("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4")
        self.body = nn.Sequential(*(getattr(network, name) for name in names))

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, S, S) -> (N, K, S/32, S/32), K = 512 for ResNet18 and 2,048 for ResNet50."""
        maps: Tensor = self.body(images)
        return maps


class ResNet18(Backbone):
    """torchvision's ResNet18 with IMAGENET1K_V1."""

    name = "resnet18"

    def architecture(self, image_size: int) -> nn.Module:
        """Independent of the image size."""
        from torchvision.models import resnet18

        network: nn.Module = resnet18(weights=None)
        return network

    def map_of(self, network: nn.Module) -> nn.Module:
        return TorchvisionMaps(network)

    def default_weights(self) -> Path:
        from torchvision.models import ResNet18_Weights

        return fetched(ResNet18_Weights.IMAGENET1K_V1, self.name)
