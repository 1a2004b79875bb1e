"""Stage features: data/raw -> outputs/features, the maps of a frozen backbone, in chunks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from sharc.artifacts.files import digest_of
from sharc.backbones.base import IMAGENET_MEAN, IMAGENET_STD
from sharc.datasets.raw import RawData
from sharc.datasets.tensors import Array, save
from sharc.errors import UserError, unknown
from sharc.features.augment import Views
from sharc.features.chunks import Ledger, Writer, chunk_name, chunk_rows
from sharc.features.engines import Engine, choose_engine
from sharc.features.pipeline import Constants, Extractor

if TYPE_CHECKING:
    from sharc.backbones.base import Backbone

FORMAT = 1


@dataclass(frozen=True)
class Part:
    """A run of images that ends in one set of chunks; view None is the test set."""

    name: str
    split: str
    view: int


def build(  # noqa: PLR0913 - one argument per key of the params block
    raw: Path,
    out: Path,
    backbone: "Backbone",
    *,
    image_size: int,
    normalisation: str,
    views: int,
    maps_share: float,
    engine: str,
    batch: int,
    threads: int,
    device: str,
    seed: int = 0,
) -> None:
    """Write labels, pooled vectors and maps, going on after the last complete chunk."""
    data = RawData(raw)
    side = int(data.meta["side"])
    mean, std = _constants(normalisation, data, backbone)
    extractor = Extractor(backbone.load(image_size), side, image_size).normalised_with(mean, std)
    runner = choose_engine(
        extractor.eval(), side, engine=engine, device=device, batch=batch, threads=threads
    )
    shape = _map_shape(runner, side)
    settings = {
        "format": FORMAT,
        "raw": data.digest(),
        "backbone": backbone.name,
        "weights_sha256": backbone.weights_sha256(),
        "image_size": image_size,
        "mean": list(mean),
        "std": list(std),
        "engine": runner.name,
        "maps_share": maps_share,
        "seed": seed,
    }
    ledger = Ledger(out, digest_of(settings))
    kept = mapped_rows(len(data.labels("train")), maps_share)
    save(out / "labels.safetensors", {s: data.labels(s) for s in ("train", "test")})
    wanted = _extract(data, runner, ledger, _parts(views), kept, chunk_rows(shape), seed)
    meta = {
        "dataset": data.meta["dataset"],
        "classes": data.meta["classes"],
        "settings": settings,
        "views": [part.view for part in _parts(views) if part.split == "train"],
        "items": {s: data.meta["splits"][s]["items"] for s in ("train", "test")},
        "map_shape": list(shape),
        "chunk_rows": chunk_rows(shape),
    }
    ledger.close(meta, wanted)


def _constants(
    normalisation: str, data: RawData, backbone: "Backbone"
) -> tuple[Constants, Constants]:
    """Mean and deviation: the data set's (as the paper), ImageNet's, or the backbone's own."""
    known = {
        "dataset": (tuple(data.meta["mean"]), tuple(data.meta["std"])),
        "imagenet": (IMAGENET_MEAN, IMAGENET_STD),
        "own": (backbone.mean, backbone.std),
    }
    if normalisation not in known:
        raise UserError(unknown("features.normalisation", normalisation, known))
    return known[normalisation]


def _parts(views: int) -> list[Part]:
    """The test images, and the training images plain (no views) or in each augmented view."""
    numbers = [0] if views == 0 else list(range(1, views + 1))
    return [Part("test", "test", 0)] + [Part(f"train-view{v}", "train", v) for v in numbers]


def _map_shape(runner: Engine, side: int) -> tuple[int, int, int]:
    """(H, W, K), found by running one black image."""
    _, maps = runner.features(np.zeros((1, side, side, 3), dtype=np.uint8))
    height, width, channels = maps.shape[1:]
    return int(height), int(width), int(channels)


def mapped_rows(n_images: int, share: float) -> Array:
    """Which training images keep their map: evenly spread over an order that is by class."""
    count = round(n_images * share)
    return np.arange(count, dtype=np.int64) * n_images // max(count, 1)


def _extract(
    data: RawData,
    runner: Engine,
    ledger: Ledger,
    parts: list[Part],
    kept: Array,
    rows: int,
    seed: int,
) -> set[str]:
    """Compute every chunk that is not there yet; the names of all that belong to the cache."""
    wanted = set()
    total = sum(len(data.labels(part.split)) for part in parts)
    with Writer(ledger.keep) as writer, tqdm(total=total, unit="img", disable=None) as bar:
        for part in parts:
            for name, index in _chunks(part, len(data.labels(part.split)), rows):
                wanted.add(name)
                if name not in ledger.chunks:
                    writer.put(name, _chunk(data, runner, part, index, kept, seed))
                bar.update(len(index))
    return wanted


def _chunks(part: Part, n_images: int, rows: int) -> Iterator[tuple[str, Array]]:
    """Name and image numbers of each chunk of a part."""
    for number, start in enumerate(range(0, n_images, rows)):
        yield chunk_name(part.name, number), np.arange(start, min(start + rows, n_images))


def _chunk(
    data: RawData, runner: Engine, part: Part, index: Array, kept: Array, seed: int
) -> dict[str, Any]:
    """One chunk: pooled vectors of all, maps of those training images that keep one."""
    images = np.array(data.images(part.split)[index[0] : index[-1] + 1])
    if part.view > 0:
        images = Views(len(data.labels("train")), part.view, seed).of(images, index)
    pooled, maps = runner.features(images)
    if part.split == "test":
        return {"pooled": pooled}
    mine = kept[(kept >= index[0]) & (kept <= index[-1])]
    chosen = maps if len(mine) == len(index) else maps[mine - index[0]]
    return {"index": mine, "pooled": pooled, "maps": chosen}
