"""What a frozen backbone states about itself, and how its weights are loaded and checked."""

import os
import pickle
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from sharc.artifacts.files import sha256_of
from sharc.errors import UserError

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
WEIGHTS_FOLDER = "SHARC_WEIGHTS"  # environment variable: a folder of weight files


class Backbone(ABC):
    """One architecture with one set of pre-trained weights."""

    name: ClassVar[str]
    mean: ClassVar[tuple[float, float, float]] = IMAGENET_MEAN  # of pixels scaled to 0..1
    std: ClassVar[tuple[float, float, float]] = IMAGENET_STD

    def __init__(self, weights_file: Path | str | None = None) -> None:
        self._weights_file = Path(weights_file) if weights_file is not None else None

    @abstractmethod
    def architecture(self, image_size: int) -> nn.Module:
        """The network with random weights, whose state dict the weight file fills."""

    @abstractmethod
    def map_of(self, network: nn.Module) -> nn.Module:
        """The part of `network` that turns images (N, 3, S, S) into maps (N, K, H, W)."""

    @abstractmethod
    def default_weights(self) -> Path:
        """Where the published weights lie, fetched first if need be."""

    def weights_path(self) -> Path:
        """The file given by hand, else one in $SHARC_WEIGHTS, else the published one."""
        if self._weights_file is not None:
            return self._weights_file
        folder = os.environ.get(WEIGHTS_FOLDER)
        if folder and (Path(folder) / f"{self.name}.pth").is_file():
            return Path(folder) / f"{self.name}.pth"
        return self.default_weights()

    def weights_sha256(self) -> str:
        """The digest that goes into the provenance and into the cache's key."""
        path = self.weights_path()
        if not path.is_file():
            raise UserError(f"weight file {path} of backbone {self.name} does not exist.")
        return sha256_of(path)

    def load(self, image_size: int) -> nn.Module:
        """The map part in evaluation mode, without gradients, on the CPU."""
        self.weights_sha256()
        network = self.architecture(image_size)
        _fill(network, self.weights_path(), self.name)
        return self.map_of(network).eval().requires_grad_(False)


def _fill(network: nn.Module, path: Path, name: str) -> None:
    """Load the state dict at `path` into `network`; no foreign pickle is ever executed."""
    try:
        state: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"weight file {path} cannot be read as a state dict: {reason}") from None
    try:
        network.load_state_dict(state)
    except (RuntimeError, AttributeError, TypeError) as error:
        reason = "; ".join(line.strip() for line in str(error).splitlines()[:3])[:300]
        raise UserError(
            f"weight file {path} is not of the architecture {name}: {reason}. "
            f"Give a state dict of {name}, or select another backbone."
        ) from None
