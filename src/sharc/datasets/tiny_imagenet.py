"""Tiny-ImageNet-200 (Stanford CS231n): 200 classes, 500 training images each, 64 × 64 pixels.

Its test labels were never published: as everywhere, the validation images are the test set. All of
its classes belong to ImageNet-1K, on which the backbones were trained.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sharc.artifacts.arrays import Array
from sharc.datasets.archives import members
from sharc.datasets.base import Dataset, Expected, Location
from sharc.datasets.fetch import fetch
from sharc.datasets.images import sized
from sharc.datasets.raw import Contents, Split
from sharc.errors import UserError

URL = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
_ANNOTATIONS = "val/val_annotations.txt"


class TinyImageNet(Dataset):
    """From the published archive, or from the folder it unpacks to."""

    name = "tiny_imagenet"
    n_classes, side = 200, 64
    mean = (0.4802, 0.4480, 0.3975)
    std = (0.2770, 0.2691, 0.2821)
    archive_md5: ClassVar[str] = "90528d7ca1a48142e341f4ef8d21d0de"
    items: ClassVar[Mapping[str, int]] = {"train": 100_000, "test": 10_000}

    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        return {"official": self._official, "folder": self._folder}

    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        """Counts; the archive itself is proven by its published md5."""
        return {name: Expected(items, None) for name, items in self.items.items()}

    def manual_step(self, source: str, location: Location) -> str:
        if source == "folder":
            return f"unpack {URL} so that {location.downloads / 'tiny-imagenet-200'}/train exists"
        return f"download {URL} and put it at {location.downloads / 'tiny-imagenet-200.zip'}"

    def _official(self, location: Location) -> Contents:
        """The archive, read in place."""
        target = location.downloads / "tiny-imagenet-200.zip"
        return self._contents(fetch(URL, target, "md5", self.archive_md5))

    def _folder(self, location: Location) -> Contents:
        """The unpacked archive."""
        return self._contents(location.downloads / "tiny-imagenet-200")

    def _contents(self, root: Path) -> Contents:
        """Labels are the positions of the WordNet ids in alphabetical order."""
        train: list[tuple[str, Array]] = []
        test: list[tuple[str, Array]] = []
        annotations: dict[str, str] = {}
        for name, content in members(root, _is_wanted):
            short = name.removeprefix("tiny-imagenet-200/")
            if short == _ANNOTATIONS:
                annotations = dict(
                    line.split("\t")[:2] for line in content.decode().splitlines() if line
                )  # type: ignore[misc]
                continue
            # about one image in fifty is greyscale in the published set
            image = sized(content, name, self.side, grey_is_rgb=True)
            file = Path(short)
            if file.parts[0] == "train":
                train.append((file.parts[1], image))
            else:
                test.append((file.name, image))
        classes = tuple(sorted({name for name, _ in train}))
        if unnamed := [name for name, _ in test if annotations.get(name) not in classes]:
            raise UserError(f"{_ANNOTATIONS} in {root} names no class for {unnamed[0]}")
        named = [(annotations[name], image) for name, image in test]
        return Contents(classes, _split(train, classes), _split(named, classes))


def _is_wanted(name: str) -> bool:
    """Training and validation images and the list of validation labels."""
    short = name.removeprefix("tiny-imagenet-200/")
    return short == _ANNOTATIONS or (
        short.startswith(("train/", "val/")) and short.upper().endswith(".JPEG")
    )


def _split(items: list[tuple[str, Array]], classes: tuple[str, ...]) -> Split:
    """Class names and images as one split."""
    if not items:
        raise UserError("no images found")
    number = {name: at for at, name in enumerate(classes)}
    labels = np.array([number[name] for name, _ in items], dtype=np.int64)
    return Split(np.stack([image for _, image in items]), labels)
