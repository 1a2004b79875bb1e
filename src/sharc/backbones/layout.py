"""Weights of TensorFlow and JAX as PyTorch lays them out, each checked by name and shape."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from sharc.artifacts.arrays import Array
from sharc.errors import UserError

_FROM_HWIO = {4: (3, 2, 0, 1), 2: (1, 0)}  # kernels of convolutions, matrices of dense layers


class Weights:
    """Named arrays of one weight file."""

    def __init__(self, arrays: Mapping[str, Array], origin: str) -> None:
        self._arrays, self._origin = arrays, origin

    def like(self, name: str, target: Tensor) -> Tensor:
        """The array `name`, with its kernel axes turned, for a parameter like `target`."""
        if name not in self._arrays:
            raise UserError(f"{self._origin} lacks the published tensor {name}.")
        array = np.asarray(self._arrays[name])
        if array.dtype != np.float32:
            raise UserError(f"{self._origin}: {name} is {array.dtype}, not float32.")
        turned = array.transpose(_FROM_HWIO[array.ndim]) if array.ndim in _FROM_HWIO else array
        if turned.shape != tuple(target.shape):
            raise UserError(
                f"{self._origin}: {name} has the shape {array.shape}, which does not fit "
                f"{tuple(target.shape)} of the architecture."
            )
        return torch.from_numpy(turned.copy(order="C"))
