"""Stage features: data/raw -> outputs/features, the maps of a frozen backbone, in chunks."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tqdm import tqdm

from sharc.artifacts.arrays import Array, save
from sharc.artifacts.files import digest_of, read_json
from sharc.backbones.base import IMAGENET_MEAN, IMAGENET_STD
from sharc.datasets.raw import RawData
from sharc.errors import UserError, unknown
from sharc.features.cache import view_part
from sharc.features.chunks import CacheFiles, Writer, chunk_name, chunk_rows
from sharc.features.engines import Engine, choose_engine
from sharc.features.extraction import Extraction, Part
from sharc.features.pipeline import Constants, Extractor

if TYPE_CHECKING:
    from sharc.backbones.base import Backbone

FORMAT = 1


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
    split: Path | None = None,
) -> None:
    """Write labels, pooled vectors and maps, going on after the last complete chunk.

    With `split`, of the images it names alone; the vectors of all others are zero.
    """
    data = RawData(raw)
    side = int(data.meta["side"])
    mean, std = constants(normalisation, data, backbone)
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
    named = named_images(data, split)
    if split is not None:
        settings["images"] = digest_of({s: rows.tolist() for s, rows in named.items()})
    files = CacheFiles(out, digest_of(settings))
    kept = named["train"][mapped_rows(len(named["train"]), maps_share)]
    save(out / "labels.safetensors", {s: data.labels(s) for s in ("train", "test")})
    work = Extraction(data, runner, named, kept, seed, shape)
    wanted = _extract(work, files, _parts(views), chunk_rows(shape))
    meta = {
        "dataset": data.meta["dataset"],
        "classes": data.meta["classes"],
        "settings": settings,
        "views": [part.view for part in _parts(views) if part.split == "train"],
        "items": {s: data.meta["splits"][s]["items"] for s in ("train", "test")},
        "map_shape": list(shape),
        "chunk_rows": chunk_rows(shape),
    }
    files.close(meta, wanted)


def constants(
    normalisation: str, data: RawData, backbone: "Backbone"
) -> tuple[Constants, Constants]:
    """Mean and deviation: the data set's (as the paper), ImageNet's, or the backbone's own."""
    known = {
        "dataset": (tuple(data.meta["mean"]), tuple(data.meta["std"])),
        "imagenet": (IMAGENET_MEAN, IMAGENET_STD),
        "own": (backbone.mean, backbone.std),
    }
    if normalisation not in known:
        raise UserError(unknown("normalisation", normalisation, known))
    return known[normalisation]


def _parts(views: int) -> list[Part]:
    """The test images, and the training images plain (no views) or in each augmented view."""
    numbers = [0] if views == 0 else list(range(1, views + 1))
    return [Part("test", "test", 0)] + [Part(view_part(v), "train", v) for v in numbers]


def _map_shape(runner: Engine, side: int) -> tuple[int, int, int]:
    """(H, W, K), found by running one black image."""
    _, maps = runner.features(np.zeros((1, side, side, 3), dtype=np.uint8))
    height, width, channels = maps.shape[1:]
    return int(height), int(width), int(channels)


def mapped_rows(n_images: int, share: float) -> Array:
    """Which training images keep their map: evenly spread over an order that is by class."""
    count = round(n_images * share)
    return np.arange(count, dtype=np.int64) * n_images // max(count, 1)


def named_images(data: RawData, split: Path | None) -> dict[str, Array]:
    """The images to be looked at: all, or those of a split's tasks."""
    parts = ("train", "test")
    if split is None:
        return {part: np.arange(len(data.labels(part))) for part in parts}
    tasks = read_json(split)["tasks"]
    wanted = {"train": ("train", "validation"), "test": ("test",)}
    return {
        part: np.sort(
            np.concatenate([task[name] for task in tasks for name in wanted[part]]).astype(np.int64)
        )
        for part in parts
    }


def _quiet() -> bool | None:
    """No bar where nobody sees it; `sharc build` reads it from a pipe."""
    return False if "SHARC_PROGRESS" in os.environ else None


def _extract(work: Extraction, files: CacheFiles, parts: list[Part], rows: int) -> set[str]:
    """Compute every chunk that is not there yet; the names of all that belong to the cache."""
    wanted = set()
    sizes = {part: len(work.data.labels(part.split)) for part in parts}
    total = sum(sizes.values())
    with Writer(files.keep) as writer, tqdm(total=total, unit="img", disable=_quiet()) as bar:
        for part, size in sizes.items():
            for number, start in enumerate(range(0, size, rows)):
                name, end = chunk_name(part.name, number), min(start + rows, size)
                wanted.add(name)
                if name not in files.chunks:
                    writer.put(name, work.chunk(part, start, end))
                bar.update(end - start)
    return wanted
