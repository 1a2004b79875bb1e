"""A user's own images, in any size and mode that Pillow reads.

All become RGB squares of `side` pixels. A set without test images gives up a share of each class:
the images whose digest, seeded, is smallest, so that the choice depends neither on names nor on
order.
"""

import hashlib
import io
import os
import tempfile
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from sharc.artifacts.arrays import Array
from sharc.artifacts.files import explained
from sharc.datasets.base import Dataset, Location, Triple
from sharc.datasets.first_sight import Seen, seen_at
from sharc.datasets.raw import Contents, Split
from sharc.errors import UserError, unknown

_SIXTEEN_BITS = {"I", "I;16", "I;16L", "I;16B"}


class Item(NamedTuple):
    """One image, not yet decoded; `split` is None where train and test are to be drawn."""

    name: str
    label: str
    split: str | None
    read: Callable[[], bytes]


class ImageSet(Dataset):
    """Base of what reads a user's images; a subclass says where they are."""

    option: str  # the key of params.yaml that says where

    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        """The folder or files that params.yaml names are the only source."""
        return {self.option: self._contents}

    @abstractmethod
    def items(self, root: Path) -> list[Item]:
        """Every image below `root`."""

    def seen(self, location: Location) -> Seen:
        """The files themselves, so that neither `side` nor the test share matters."""
        return seen_at(Path(location.options[self.option]))

    def _contents(self, location: Location) -> Contents:
        options, root = location.options, Path(location.options[self.option])
        if not root.exists():
            raise UserError(f"{root} does not exist. Name the folder of your images.")
        items = self.items(root)
        names = _class_names(options.get("classes"), items, root)
        items = [item for item in items if item.label in names]
        parts = _parts(items, list(names), options["test_share"], options["test_seed"])
        self.n_classes, self.side = len(names), options["side"]
        seen: Counter[str] = Counter()
        train, test = (
            _decoded(part, list(names), self.side, location.downloads, seen) for part in parts
        )
        self.mean, self.std = _moments(train.images)
        return Contents(tuple(names.values()), train, test, tuple(_remarks(seen, self.side)))


def _class_names(wanted: Any, items: Sequence[Item], root: Path) -> dict[str, str]:
    """Class and shown name, in the order of their labels: the pairs `wanted`, else by name."""
    found = sorted({item.label for item in items}, key=_by_number_or_name)
    names = dict(wanted) if wanted else {label: label for label in found}
    for label in names:
        if label not in found:
            raise UserError(f"classes: {unknown('class', label, found)}")
    require_classes(list(names), root)
    return names


def require_classes(names: Sequence[str], root: Path) -> None:
    """Refuse fewer than two classes."""
    if len(names) < 2:
        raise UserError(
            f"{root} holds {len(names)} class{'es' if not names else f', {names[0]!r}'}:"
            " continual learning needs at least two, each in its own folder."
        )


def _by_number_or_name(label: str) -> tuple[int, str]:
    return (int(label), "") if label.isdecimal() else (0, label)


def _parts(
    items: Sequence[Item], classes: Sequence[str], share: float, seed: int
) -> tuple[list[Item], list[Item]]:
    """Training and test images: by their folder, else drawn class by class."""
    train, test = ([item for item in items if item.split == split] for split in ("train", "test"))
    for label in classes:
        mine = [item for item in items if item.label == label and item.split is None]
        mine.sort(key=lambda item: hashlib.sha256(b"%d/" % seed + item.read()).digest())
        count = max(1, min(round(share * len(mine)), len(mine) - 1)) if mine else 0
        test += mine[:count]
        train += mine[count:]
    for name, part in (("training", train), ("test", test)):
        lacking = set(classes) - {item.label for item in part}
        if lacking:
            raise UserError(
                f"class {min(lacking)!r} has no {name} image: each class needs at least one "
                "training and one test image."
            )
    return train, test


def _decoded(
    items: Sequence[Item], classes: Sequence[str], side: int, folder: Path, seen: Counter[str]
) -> Split:
    """The images in a file without a name, so that a large set needs no memory."""
    images = _scratch((len(items), side, side, 3), folder)
    for row, item in enumerate(items):
        images[row] = _square(item, side, seen)
    labels = np.array([classes.index(item.label) for item in items], dtype=np.int64)
    return Split(images, labels)


def _scratch(shape: tuple[int, ...], folder: Path) -> Array:
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as handle:
            if hasattr(os, "posix_fallocate"):  # a full disk is an error here, a crash later
                os.posix_fallocate(handle.fileno(), 0, int(np.prod(shape)))
            return np.memmap(handle, np.uint8, "w+", shape=shape)


def _square(item: Item, side: int, seen: Counter[str]) -> Array:
    """The image upright, in RGB, its middle square scaled to `side`."""
    try:
        with Image.open(io.BytesIO(item.read())) as image:
            image.load()
            seen[f"mode {image.mode}"] += 1
            seen["other size"] += image.size != (side, side)
            upright = ImageOps.exif_transpose(image)
            return np.asarray(ImageOps.fit(_rgb(upright), (side, side), Image.Resampling.BILINEAR))
    except UnidentifiedImageError:  # Pillow's own message names a memory address, not the file
        raise UserError(f"{item.name} is not an image: replace or remove it.") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UserError(
            f"{item.name} is not an image that can be read ({error}): replace or remove it."
        ) from None


def _rgb(image: Image.Image) -> Image.Image:
    """Transparency over white; sixteen bits scaled, where Pillow alone would clip them."""
    if image.mode in _SIXTEEN_BITS:
        scaled = np.clip(np.asarray(image, dtype=np.float64) / 257, 0, 255).round()
        return Image.fromarray(scaled.astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        whole = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", whole.size, "white"), whole).convert("RGB")
    return image.convert("RGB")


def _moments(images: Array) -> tuple[Triple, Triple]:
    """Mean and standard deviation of each channel, of pixels scaled to 0..1, image by image."""
    sums = np.zeros((2, 3))
    for image in images:
        scaled = image.reshape(-1, 3) / 255
        sums += scaled.mean(axis=0), np.square(scaled).mean(axis=0)
    mean, square = sums / len(images)
    std = np.sqrt(np.maximum(square - mean**2, 1e-8))
    return tuple(np.round(mean, 4).tolist()), tuple(np.round(std, 4).tolist())


def _remarks(seen: Counter[str], side: int) -> list[str]:
    modes = {key[5:]: count for key, count in seen.items() if key.startswith("mode ")}
    total, found = sum(modes.values()), []
    if others := {mode: count for mode, count in sorted(modes.items()) if mode != "RGB"}:
        said = ", ".join(f"{count} {mode}" for mode, count in others.items())
        found.append(f"{sum(others.values())} of {total} images were converted to RGB ({said})")
    if seen["other size"]:
        found.append(
            f"{seen['other size']} of {total} images were cropped and scaled to {side}×{side}"
        )
    return found
