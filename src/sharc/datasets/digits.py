"""Split-Digits: scikit-learn's 1,797 bundled handwritten digits, 8 × 8, no download at all."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from sharc.artifacts.arrays import Array
from sharc.datasets.base import Dataset, Expected, Location
from sharc.datasets.raw import Contents, Split
from sharc.randomness import generator

_TEST_SHARE = 0.2
_TRAIN_DIGEST = "37ce5a9017050e8a3ac85041ca33566aad14a1b1fb45bfdaf451f51430af2c13"
_TEST_DIGEST = "42f4d564171a9cf61a62208ba62bc809c8448ff311da84cb3fdf69dcd046e681"
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_FULL_INK = 16  # scikit-learn's grey levels are 0..16


class Digits(Dataset):
    """Greyscale digits as RGB; a fixed stratified fifth of each class is the test set."""

    name = "digits"
    n_classes = 10
    side = 8
    mean = (0.3054, 0.3054, 0.3054)
    std = (0.3761, 0.3761, 0.3761)

    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        return {"bundled": self._bundled}

    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        """Digests of the fixed split."""
        return {"train": Expected(1438, _TRAIN_DIGEST), "test": Expected(359, _TEST_DIGEST)}

    def manual_step(self, source: str, location: Location) -> str:
        """The data come with a dependency."""
        return "pip install scikit-learn"

    def _bundled(self, location: Location) -> Contents:
        """Grey levels 0..16 stretched to 0..255 and repeated in three channels."""
        from sklearn.datasets import load_digits

        bunch = load_digits()
        grey = np.rint(bunch.images * (255 / _FULL_INK)).astype(np.uint8)
        images = np.repeat(grey[..., None], 3, axis=3)
        labels = bunch.target.astype(np.int64)
        test = _test_mask(labels)
        return Contents(
            _NAMES, Split(images[~test], labels[~test]), Split(images[test], labels[test])
        )


def _test_mask(labels: Array) -> Array:
    """True for the fifth of every class that is held out, drawn once and for all."""
    mask = np.zeros(len(labels), dtype=bool)
    for label in range(10):
        members = np.flatnonzero(labels == label)
        order = torch.randperm(len(members), generator=generator(0, "digits", label)).numpy()
        mask[members[order[: round(_TEST_SHARE * len(members))]]] = True
    return mask
