"""mini-ImageNet (Vinyals et al. 2016) as a classification set: 100 classes, 84 × 84 pixels.

All of its classes belong to ImageNet-1K, on which the backbones were trained.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sharc.artifacts.files import sha256_of
from sharc.datasets.archives import members
from sharc.datasets.base import Dataset, Expected, Location
from sharc.datasets.images import sized
from sharc.datasets.raw import Contents, Split
from sharc.errors import UserError

FULL, HALF = 500, 250  # training images per class: all of them, or the part a mirror holds
_SUFFIXES = (".jpg", ".jpeg", ".png")


class MiniImageNet(Dataset):
    """From an image folder the user puts in place, or from a mirror folder that holds a part."""

    name = "mini_imagenet"
    n_classes, side = 100, 84
    mean = (0.4777, 0.4553, 0.4125)  # of the training images themselves: the paper gives none
    std = (0.2710, 0.2648, 0.2779)
    test_per_class: ClassVar[int] = 100
    archives: ClassVar[Mapping[str, str]] = {
        "train": "d47cd54b22d3349d1bc52bd0cae352ee1b757999cd71203b839b55aa76de5a45",
        "val": "d0a2956dd96e78b201a5995719036bfc74ea554174330bc6b6f7a361c9e3c542",
    }
    digests: ClassVar[Mapping[int | str, str | None]] = {
        FULL: None,
        HALF: "84c5a8acd74b5f023c896b023d73a514b454cfd098bd4c2bb1078ced099e2376",
        "test": "11adbfcb6f81e85d079584353775019b24ccf3b6b98050984ecb8ca43ec2ab56",
    }

    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        """There is no official archive: the set was published as lists of ImageNet files."""
        return {"folder": self._folder, "mirror": self._mirror}

    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        """Counts for the wanted share of each class; the half's content is pinned."""
        per_class = options.get("train_per_class", FULL)
        if per_class not in (FULL, HALF):
            raise UserError(
                f"datasets.{self.name}.train_per_class is {per_class!r}: {FULL} or {HALF} expected."
            )
        return {
            "train": Expected(per_class * self.n_classes, self.digests[per_class]),
            "test": Expected(self.test_per_class * self.n_classes, self.digests["test"]),
        }

    def manual_step(self, source: str, location: Location) -> str:
        if source == "mirror":
            return (
                "set SHARC_MIRROR to a folder that holds mini_imagenet/train.tar.xz and val.tar.xz"
            )
        return (
            f"put the images, {self.side}×{self.side} RGB, at {location.downloads / 'images'}"
            "/train/<class>/*.jpg and test/<class>/*.jpg, 100 folders each"
        )

    def _folder(self, location: Location) -> Contents:
        """train/<class>/ and test/<class>/ (or val/<class>/) below the user's folder."""
        root = location.downloads / "images"
        held_out = root / ("test" if (root / "test").is_dir() else "val")
        return self._contents(members(root / "train", _is_image), members(held_out, _is_image))

    def _mirror(self, location: Location) -> Contents:
        """Two archives, checked before they are opened."""
        folder = location.mirror_of(self.name)
        paths = {name: folder / f"{name}.tar.xz" for name in self.archives}
        for name, path in paths.items():
            _check(path, self.archives[name])
        train, test = (members(path, _is_image) for path in paths.values())
        return self._contents(train, test)

    def _contents(
        self, train: Iterator[tuple[str, bytes]], test: Iterator[tuple[str, bytes]]
    ) -> Contents:
        """Labels are the positions of the class folders in alphabetical order."""
        named = [self._images(files) for files in (train, test)]
        classes = tuple(sorted({name for names, _ in named for name in names}))
        splits = [
            Split(images, np.array([classes.index(name) for name in names], dtype=np.int64))
            for names, images in named
        ]
        return Contents(classes, splits[0], splits[1])

    def _images(self, files: Iterator[tuple[str, bytes]]) -> tuple[list[str], Any]:
        """Class folder and pixels of every file."""
        names, images = [], []
        for name, content in files:
            names.append(Path(name).parent.name)
            images.append(sized(content, name, self.side))
        if not images:
            raise UserError("no images found")
        return names, np.stack(images)


def _is_image(name: str) -> bool:
    """By its ending."""
    return name.lower().endswith(_SUFFIXES)


def _check(path: Path, right: str) -> None:
    """Refuse an archive that is absent or not the one the mirror's list names."""
    if not path.is_file():
        raise UserError(f"{path} does not exist")
    found = sha256_of(path)
    if found != right:
        raise UserError(f"{path} is modified or incomplete: sha256 {found}, not {right}")
