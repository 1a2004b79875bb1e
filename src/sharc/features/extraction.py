"""One chunk of the cache: images of a data set through an engine."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sharc.artifacts.arrays import Array
from sharc.datasets.raw import RawData
from sharc.features.augment import Views
from sharc.features.engines import Engine


@dataclass(frozen=True)
class Part:
    """A run of images that ends in one set of chunks."""

    name: str
    split: str
    view: int  # 0 is the plain image


@dataclass(frozen=True)
class Extraction:
    """What every chunk is made from."""

    data: RawData
    runner: Engine
    named: dict[str, Array]  # per split, the images to be looked at, ascending
    kept: Array  # the training images that keep their map, ascending
    seed: int
    map_shape: tuple[int, int, int]

    def chunk(self, part: Part, start: int, end: int) -> dict[str, Any]:
        """Pooled vectors of images start..end, maps of those training images that keep one."""
        rows = _between(self.named[part.split], start, end)
        pooled, maps = self._features(part, rows)
        if len(rows) < end - start:
            found, pooled = pooled, np.zeros((end - start, self.map_shape[2]), dtype=np.float32)
            pooled[rows - start] = found
        if part.split == "test":
            return {"pooled": pooled}
        mine = _between(self.kept, start, end)
        chosen = maps if len(mine) == len(rows) else maps[np.searchsorted(rows, mine)]
        return {"index": mine, "pooled": pooled, "maps": chosen}

    def _features(self, part: Part, rows: Array) -> tuple[Array, Array]:
        if not len(rows):
            empty = np.zeros((0, *self.map_shape), dtype=np.float16)
            return empty[:, 0, 0].astype(np.float32), empty
        images = np.array(self.data.images(part.split)[rows])
        if part.view > 0:
            images = Views(len(self.data.labels("train")), part.view, self.seed).of(images, rows)
        return self.runner.features(images)


def _between(rows: Array, start: int, end: int) -> Array:
    return rows[(rows >= start) & (rows < end)]
