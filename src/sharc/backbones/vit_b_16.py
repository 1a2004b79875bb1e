"""ViT-B/16 (Dosovitskiy et al. 2021): patch tokens as a 14 × 14 grid of 768 channels at 224 px."""

from pathlib import Path

from torch import Tensor, cat, nn

from sharc.backbones.base import Backbone
from sharc.backbones.published import fetched
from sharc.errors import UserError

_SIZE = 224  # the published position embedding is that of 14 × 14 patches
_PATCH = 16


class _PatchTokens(nn.Module):
    """The encoder's output without the class token, arranged like the patches in the image."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: Tensor) -> Tensor:
        """(N, 3, S, S) -> (N, 768, S/16, S/16)."""
        patches: Tensor = self.network._process_input(images)  # type: ignore[operator]
        first: Tensor = self.network.class_token.expand(len(images), -1, -1)  # type: ignore[operator,union-attr]
        tokens: Tensor = self.network.encoder(cat([first, patches], dim=1))  # type: ignore[operator]
        grid = images.shape[-1] // _PATCH
        return tokens[:, 1:].transpose(1, 2).reshape(len(images), -1, grid, grid)


class ViTB16(Backbone):
    """torchvision's ViT-B/16 with IMAGENET1K_V1."""

    name = "vit_b_16"

    def architecture(self, image_size: int) -> nn.Module:
        """Only the size the position embedding was trained for."""
        from torchvision.models import vit_b_16

        if image_size != _SIZE:
            raise UserError(
                f"backbone {self.name} takes only image_size {_SIZE}, not {image_size}."
            )
        network: nn.Module = vit_b_16(weights=None)
        return network

    def map_of(self, network: nn.Module) -> nn.Module:
        return _PatchTokens(network)

    def default_weights(self) -> Path:
        from torchvision.models import ViT_B_16_Weights

        return fetched(ViT_B_16_Weights.IMAGENET1K_V1, self.name)
