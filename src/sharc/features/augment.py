"""Augmented views of training images: crop with padding 4, then a mirror image half of the time.

The paper trains on such a view and sees it once; view v of an image depends on (seed, v) and the
image's index alone, so a further view does not change the others.
"""

import numpy as np
import torch

from sharc.artifacts.arrays import Array
from sharc.randomness import generator

PADDING = 4


class Views:
    """The crop offsets and flips of every training image in one view."""

    def __init__(self, n_images: int, view: int, seed: int) -> None:
        draws = generator(seed, "view", view)
        span = 2 * PADDING + 1
        self._offsets = torch.randint(span, (n_images, 2), generator=draws).numpy()
        self._flips = torch.rand(n_images, generator=draws).numpy() < 0.5

    def of(self, images: Array, rows: Array) -> Array:
        """Views of `images` (n, h, w, 3), which are numbered `rows` in the data set."""
        n, height, width, _ = images.shape
        padded = np.pad(images, ((0, 0), (PADDING, PADDING), (PADDING, PADDING), (0, 0)))
        at = np.arange(n)[:, None, None]
        down = self._offsets[rows, 0][:, None, None] + np.arange(height)[None, :, None]
        along = np.broadcast_to(np.arange(width), (n, width)).copy()
        flips = self._flips[rows]
        along[flips] = along[flips, ::-1]
        across = (self._offsets[rows, 1][:, None] + along)[:, None, :]
        return np.asarray(padded[at, down, across])
