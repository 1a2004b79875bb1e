"""What params.yaml may say of a backbone that it adds: an architecture and a weight file."""

from typing import Self

from pydantic import model_validator

from sharc.config.base import Block

LIBRARIES = ("torchvision", "timm")


class AddedBackbone(Block):
    """An architecture of a library with weights of the user's own; nothing for a class."""

    torchvision: str | None = None
    timm: str | None = None
    weights: str | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        named = [library for library in LIBRARIES if getattr(self, library)]
        if len(named) > 1:
            raise ValueError("give an architecture of torchvision or of timm, not of both")
        if bool(named) != bool(self.weights):
            raise ValueError(
                "an architecture and its weights belong together: {torchvision: resnet18, "
                "weights: path/to/weights.pth}"
            )
        return self

    @property
    def library(self) -> str | None:
        """Whose architecture it is; None for a class, which knows its own."""
        return next((library for library in LIBRARIES if getattr(self, library)), None)
