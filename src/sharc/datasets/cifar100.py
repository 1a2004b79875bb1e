"""CIFAR-100 (Krizhevsky 2009): 50,000 training and 10,000 test images, 100 fine classes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sharc.artifacts.files import read_json
from sharc.datasets.base import Dataset, Expected, Location
from sharc.datasets.cifar import BASE, MEAN, SIDE, STD, files, records
from sharc.datasets.fetch import fetch
from sharc.datasets.images import sheet
from sharc.datasets.raw import Contents, Split
from sharc.errors import UserError

# fmt: off
NAMES = (
    "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle",
    "bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle",
    "chair", "chimpanzee", "clock", "cloud", "cockroach", "couch", "crab", "crocodile", "cup",
    "dinosaur", "dolphin", "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house",
    "kangaroo", "keyboard", "lamp", "lawn_mower", "leopard", "lion", "lizard", "lobster", "man",
    "maple_tree", "motorcycle", "mountain", "mouse", "mushroom", "oak_tree", "orange", "orchid",
    "otter", "palm_tree", "pear", "pickup_truck", "pine_tree", "plain", "plate", "poppy",
    "porcupine", "possum", "rabbit", "raccoon", "ray", "road", "rocket", "rose", "sea", "seal",
    "shark", "shrew", "skunk", "skyscraper", "snail", "snake", "spider", "squirrel", "streetcar",
    "sunflower", "sweet_pepper", "table", "tank", "telephone", "television", "tiger", "tractor",
    "train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf", "woman",
    "worm",
)
# fmt: on


class CIFAR100(Dataset):
    """From the official binary archive or from a mirror folder of lossless WebP sheets."""

    name = "cifar100"
    n_classes, side, mean, std = 100, SIDE, MEAN, STD
    archive = "cifar-100-binary.tar.gz"
    archive_md5: ClassVar[str] = "03b5dce01913d631647c71ecec9e9cb8"

    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        return {"official": self._official, "mirror": self._mirror}

    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        """The published set's content, with fine labels."""
        return {
            "train": Expected(
                50_000, "1c84180f6d8ae8d7ff27cd3f4b3ab4ba9f05ee6fe6c2d0b33773ae0c088aeb99"
            ),
            "test": Expected(
                10_000, "aed05841c627c0c04bb6b9b75c9e1abcce9b5bf3ef2ea06d606088a6eb685e18"
            ),
        }

    def manual_step(self, source: str, location: Location) -> str:
        """Where to put the archive, or how to name the mirror."""
        if source == "mirror":
            return "set SHARC_MIRROR to a folder that holds cifar100/train_000.webp and so on"
        return f"download {BASE}/{self.archive} and put it at {location.downloads / self.archive}"

    def _official(self, location: Location) -> Contents:
        """One file per split, records of coarse label, fine label and planes."""
        target = location.downloads / self.archive
        archive = fetch(f"{BASE}/{self.archive}", target, "md5", self.archive_md5)
        found = files(archive, ("train.bin", "test.bin"))
        train, test = (records(found[f"{name}.bin"], name, 2) for name in ("train", "test"))
        return Contents(NAMES, train, test)

    def _mirror(self, location: Location) -> Contents:
        """Sheets of 500 images, one below the other, and a list of labels per split."""
        folder = location.mirror_of(self.name)
        return Contents(NAMES, _sheets(folder, "train"), _sheets(folder, "test"))


def _sheets(folder: Path, split: str) -> Split:
    """All sheets of a split, in the order of their numbers."""
    paths = sorted(folder.glob(f"{split}_*.webp"))
    if not paths:
        raise UserError(f"{folder} holds no {split}_*.webp")
    images = np.concatenate([sheet(path.read_bytes(), str(path), SIDE) for path in paths])
    labels = np.asarray(read_json(folder / f"{split}_labels.json"), dtype=np.int64)
    if labels.shape != images.shape[:1]:
        raise UserError(f"{folder} holds {len(images)} {split} images but {len(labels)} labels")
    return Split(images, labels)
