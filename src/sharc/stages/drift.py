"""Stage features under `bn_mode: train`: what each seed's stream makes of the images.

A training image's features depend on the batch it comes in, a test image's on everything that was
trained on before. So they are cached per seed: the training images once, the test images of the
tasks seen so far again after each task, and all of them before the first.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import torch
from tqdm import tqdm

from sharc.artifacts.arrays import Array, save
from sharc.artifacts.files import digest_of, explained, read_json
from sharc.datasets.raw import RawData
from sharc.engine.sampling import task_order
from sharc.features.augment import Views
from sharc.features.cache import drifted_test, view_part
from sharc.features.chunks import CacheFiles, chunk_name, chunk_rows
from sharc.features.drift import MOMENTUM, Drift
from sharc.features.engines import choose_device, example
from sharc.features.pipeline import Extractor
from sharc.stages.features import FORMAT, constants

if TYPE_CHECKING:
    from sharc.backbones.base import Backbone

JOINT = "joint"


@dataclass(frozen=True)
class Course:
    """What one run shows the network: the tasks one after the other, or all of them at once."""

    seed: int
    joint: bool
    orders: list[Array]  # per task, image numbers as they come
    images: Array  # all that any seed may come by, ascending
    tests: list[Array]  # test images looked at before the first task and after each

    @property
    def view(self) -> str:
        """The part's name of its training images."""
        return view_part(self.seed, joint=self.joint)


def build(  # noqa: PLR0913 - one argument per key of the params block
    raw: Path,
    split: Path,
    out: Path,
    backbone: "Backbone",
    *,
    image_size: int,
    normalisation: str,
    views: int,
    seeds: Sequence[int],
    batch: int,
    passes: Sequence[int],
    joint: bool,
    device: str,
) -> None:
    """Write the features of every seed that is not there yet."""
    torch.set_num_threads(1)  # statistics are sums: their rounding must not depend on the machine
    data, tasks = RawData(raw), read_json(split)["tasks"]
    side = int(data.meta["side"])
    mean, std = constants(normalisation, data, backbone)
    extractor = Extractor(backbone.load(image_size), side, image_size).normalised_with(mean, std)
    drift = Drift(extractor.eval().to(choose_device(device)), passes)
    height, width, channels = drift.step(example(side))[1].shape[1:]
    shape = (height, width, channels)
    settings = {
        "format": FORMAT,
        "raw": data.digest(),
        "tasks": digest_of(tasks),
        "backbone": backbone.name,
        "weights_sha256": backbone.weights_sha256(),
        "image_size": image_size,
        "mean": list(mean),
        "std": list(std),
        "views": views,
        "batch": batch,
        "momentum": MOMENTUM,
    }
    files = CacheFiles(out, digest_of(settings))
    save(out / "labels.safetensors", {s: data.labels(s) for s in ("train", "test")})
    courses = [c for seed in seeds for c in _courses(tasks, seed, batch, joint)]
    wanted: set[str] = set()
    for course in tqdm(courses, desc=data.meta["dataset"], disable=None):
        names = set(_names(course, passes, len(data.labels("train")), chunk_rows(shape)))
        wanted |= names
        if not names <= files.chunks.keys():
            _Passage(data, drift, course, batch, views, shape).write(files)
    meta = {
        "dataset": data.meta["dataset"],
        "classes": data.meta["classes"],
        "settings": settings,
        "seeds": list(seeds),
        "views": list(seeds),
        "items": {s: data.meta["splits"][s]["items"] for s in ("train", "test")},
        "map_shape": list(shape),
        "chunk_rows": chunk_rows(shape),
    }
    files.close(meta, wanted)


def _courses(tasks: list[dict[str, Any]], seed: int, batch: int, joint: bool) -> Iterator[Course]:
    """The order in which the engine will ask for the images, batch by batch."""
    train = [torch.tensor(task["train"]) for task in tasks]
    seen = [np.concatenate([task["test"] for task in tasks[: n + 1]]) for n in range(len(tasks))]
    orders = [
        task_order(seed, number, examples)[: len(examples) // batch * batch].numpy()
        for number, examples in enumerate(train)
    ]
    images = np.sort(torch.cat(train).numpy())
    yield Course(seed, False, orders, images, [seen[-1], *seen])
    if joint:
        order = task_order(seed, JOINT, torch.cat(train)).numpy()
        yield Course(seed, True, [order], images, [seen[-1], seen[-1]])


def _names(course: Course, passes: Sequence[int], items: int, rows: int) -> Iterator[str]:
    for number in range(-(-items // rows)):
        yield chunk_name(course.view, number)
    for k in passes:
        for trained in range(len(course.tests)):
            yield chunk_name(drifted_test(course.seed, k, trained, joint=course.joint), 0)


class _Passage:
    """One course through the network, kept on disk until its chunks can be written in order."""

    def __init__(
        self,
        data: RawData,
        drift: Drift,
        course: Course,
        batch: int,
        views: int,
        shape: tuple[int, int, int],
    ) -> None:
        self.data, self.drift, self.course, self.batch = data, drift, course, batch
        items = len(data.labels("train"))
        self.views = Views(items, course.seed % views + 1, 0) if views else None
        self.pooled = np.zeros((items, shape[-1]), dtype=np.float32)
        self.shape, self.rows = shape, chunk_rows(shape)

    def write(self, files: CacheFiles) -> None:
        """Train on every batch, test after every task, then write what was seen."""
        self.drift.restart()
        with TemporaryFile(dir=files.folder) as scratch:
            maps = self._maps_in(scratch, files.folder)
            self._test(files, 0)
            for number, order in enumerate(self.course.orders):
                for start in range(0, len(order), self.batch):
                    self._step(order[start : start + self.batch], maps)
                self._test(files, number + 1)
            self._save(files, maps)

    def _maps_in(self, scratch: IO[bytes], folder: Path) -> Array:
        """Space for each image's map, reserved now: a mapped file on a full disk would crash."""
        shape = (len(self.course.images), *self.shape)
        with explained(folder):
            os.posix_fallocate(scratch.fileno(), 0, 2 * int(np.prod(shape)))
        return np.memmap(scratch, np.float16, "r+", shape=shape)

    def _step(self, rows: Array, maps: Array) -> None:
        images = self.data.images("train")[rows]
        if self.views is not None:
            images = self.views.of(images, rows)
        pooled, found = self.drift.step(torch.from_numpy(np.ascontiguousarray(images)))
        self.pooled[rows] = pooled.cpu().numpy()
        maps[np.searchsorted(self.course.images, rows)] = found.cpu().numpy()

    def _test(self, files: CacheFiles, trained: int) -> None:
        index = self.course.tests[trained]
        images = torch.from_numpy(np.ascontiguousarray(self.data.images("test")[index]))
        for k in self.drift.passes:
            part = drifted_test(self.course.seed, k, trained, joint=self.course.joint)
            pooled = self.drift.test(images, k).cpu().numpy()
            files.keep(chunk_name(part, 0), {"index": index, "pooled": pooled})

    def _save(self, files: CacheFiles, maps: Array) -> None:
        images = self.course.images
        for number, start in enumerate(range(0, len(self.pooled), self.rows)):
            mine = images[(images >= start) & (images < start + self.rows)]
            kept = mine[:0] if self.course.joint else mine  # JOINT replays nothing
            content = {"index": kept, "pooled": self.pooled[start : start + self.rows]}
            content["maps"] = maps[np.searchsorted(images, kept)]
            files.keep(chunk_name(self.course.view, number), content)
