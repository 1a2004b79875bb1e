"""Raw artifacts: images and labels in one canonical order, proven by a content digest.

An item's digest is sha256(image bytes, height × width × RGB, then the label as two bytes, little
endian); a split's digest is the sha256 of its sorted item digests. It does not depend on the order,
so the official archive and a mirror are checked alike. Items are stored by (label, item digest),
so every source gives the same bytes.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sharc.artifacts.arrays import Array, gathered, mapped, save
from sharc.artifacts.files import read_json

SPLITS = ("train", "test")


class Split(NamedTuple):
    """Images uint8 (N, H, W, 3) and labels int64 (N,)."""

    images: Array
    labels: Array


class Contents(NamedTuple):
    """What a source holds, in its own order, and what is worth a remark."""

    class_names: tuple[str, ...]
    train: Split
    test: Split
    remarks: tuple[str, ...] = ()

    def split(self, name: str) -> Split:
        """The split called "train" or "test"."""
        return self.train if name == "train" else self.test


def item_digests(split: Split) -> list[bytes]:
    """One sha256 per item, over its pixels and its label."""
    tails = np.asarray(split.labels).astype("<u2")
    return [
        hashlib.sha256(image.tobytes() + tail.tobytes()).digest()
        for image, tail in zip(split.images, tails, strict=True)
    ]


def content_digest(digests: Sequence[bytes]) -> str:
    """The order-free digest of a split, from its items' digests."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def write_split(path: Path, split: Split, digests: Sequence[bytes]) -> None:
    """Store a split by (label, item digest): the same bytes whatever the source's order was."""
    labels = np.asarray(split.labels, dtype=np.int64)
    order = np.array(sorted(range(len(digests)), key=lambda i: (labels[i], digests[i])), dtype=int)
    save(path, {"labels": labels[order], "images": gathered(split.images, order)})


class RawData:
    """Lazy reader of `data/raw/<dataset>/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.meta: dict[str, Any] = read_json(folder / "meta.json")
        self._splits = {name: mapped(folder / f"{name}.safetensors") for name in SPLITS}

    def images(self, split: str) -> Array:
        """Images uint8 (N, H, W, 3), memory-mapped."""
        return self._splits[split]["images"]

    def labels(self, split: str) -> Array:
        """Labels int64 (N,)."""
        return np.array(self._splits[split]["labels"])

    def digest(self) -> str:
        """The digest of the verified contents of both splits."""
        joined = "".join(self.meta["splits"][name]["digest"] for name in SPLITS)
        return hashlib.sha256(joined.encode()).hexdigest()
