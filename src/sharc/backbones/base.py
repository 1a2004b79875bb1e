"""The base of frozen backbones, and how their weights are loaded and checked."""

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

    name: str
    mean: tuple[float, float, float] = IMAGENET_MEAN  # of pixels scaled to 0..1
    std: tuple[float, float, float] = IMAGENET_STD
    archive: ClassVar[str] = ""  # file name of the package that holds the weights, if one does
    archive_sha256: ClassVar[str] = ""

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
        """Path of the published weights, which are fetched first if needed."""

    def from_archive(self, path: Path, network: nn.Module) -> dict[str, Tensor]:
        """The state dict of `network` from the package's archive, where there is one."""
        raise NotImplementedError

    def weights_path(self) -> Path:
        """The file given by hand, else one in $SHARC_WEIGHTS, else the published one."""
        if self._weights_file is not None:
            return self._weights_file
        if folder := os.environ.get(WEIGHTS_FOLDER):
            for name in filter(None, (f"{self.name}.pth", self.archive)):
                if (Path(folder) / name).is_file():
                    return Path(folder) / name
        return self.default_weights()

    def weights_sha256(self) -> str:
        """The digest that goes into the provenance and into the cache's key."""
        path = self.weights_path()
        if not path.is_file():
            raise UserError(f"weight file {path} of backbone {self.name} does not exist.")
        return sha256_of(path)

    def load(self, image_size: int) -> nn.Module:
        """The map part in evaluation mode, without gradients, on the CPU."""
        return self.map_of(self.network(image_size)).eval().requires_grad_(False)

    def network(self, image_size: int) -> nn.Module:
        """The architecture with its weights, including what follows the map if the file has it."""
        found = self.weights_sha256()
        network, path = self.architecture(image_size), self.weights_path()
        if self.archive and path.suffix in {".gz", ".tgz"}:
            if found != self.archive_sha256:
                raise UserError(
                    f"{path} is not the published {self.archive}: sha256 {found}, not "
                    f"{self.archive_sha256}. Delete it; it is fetched again."
                )
            state = self.from_archive(path, network)
        else:
            state = _state_dict(path)
        _fill(network, state, path, self.name)
        return network


def _state_dict(path: Path) -> dict[str, Tensor]:
    """The state dict at `path`; no foreign pickle is ever executed."""
    try:
        state: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"weight file {path} cannot be read as a state dict: {reason}") from None
    return state


def _fill(network: nn.Module, state: dict[str, Tensor], path: Path, name: str) -> None:
    """Load `state`, which came from `path`, into `network`."""
    try:
        network.load_state_dict(state)
    except (RuntimeError, AttributeError, TypeError) as error:
        reason = "; ".join(line.strip() for line in str(error).splitlines()[:3])[:300]
        raise UserError(
            f"weight file {path} is not of the architecture {name}: {reason}. "
            f"Give a state dict of {name}, or select another backbone."
        ) from None
