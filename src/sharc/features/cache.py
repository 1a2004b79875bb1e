"""Reader of outputs/features/<dataset>/<backbone>/: pooled vectors whole, maps row by row."""

from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sharc.artifacts.arrays import Array, mapped
from sharc.artifacts.files import read_json
from sharc.errors import UserError
from sharc.features.chunks import META, chunk_name

_SAMPLE = 512  # images over which `describe` measures sparsity


def view_part(view: int, *, joint: bool = False) -> str:
    """Name of the chunks of the training images in one view, or as one seed's stream made them."""
    return f"{'joint' if joint else 'train'}-view{view}"


def drifted_test(seed: int, passes: int, trained: int, *, joint: bool = False) -> str:
    """Name of the chunks of the test images after a seed has trained on `trained` tasks."""
    return f"{'joint' if joint else 'test'}-view{seed}-passes{passes}-after{trained}"


class FeatureCache:
    """Cached features of one data set and backbone, read lazily."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.meta: dict[str, Any] = read_json(self.folder / META)
        self.views: list[int] = self.meta["views"]
        self.map_size: tuple[int, int] = (self.meta["map_shape"][0], self.meta["map_shape"][1])
        self.n_channels: int = self.meta["map_shape"][2]
        self.classes: list[str] = self.meta["classes"]
        self._maps: dict[int, list[Array]] = {}

    @cached_property
    def _labels(self) -> dict[str, Array]:
        return mapped(self.folder / "labels.safetensors")

    def labels(self, split: str = "train") -> Tensor:
        """Labels int64 (N,) of "train" or "test"."""
        return torch.from_numpy(np.array(self._labels[split]))

    def train_pooled(self, view: int | None = None) -> Tensor:
        """Pooled fp32 (N, K) of the training images; the first cached view by default."""
        return self._pooled(view_part(self._checked(view)), "train")

    @property
    def seeds(self) -> list[int] | None:
        """The seeds whose streams made these features, if BatchNorm was in training mode."""
        return self.meta.get("seeds")

    def joint_pooled(self, seed: int) -> Tensor:
        """Pooled fp32 (N, K) of the training images as JOINT's stream made them."""
        return self._pooled(view_part(self._checked(seed), joint=True), "train")

    def drifted_test(self, seed: int, passes: int, trained: int, *, joint: bool = False) -> Tensor:
        """Pooled fp32 (N, K) of the test images after `trained` tasks; zeros for tasks unseen."""
        name = drifted_test(self._checked(seed), passes, trained, joint=joint)
        chunk = mapped(self.folder / chunk_name(name, 0))
        whole = np.zeros((self.meta["items"]["test"], self.n_channels), dtype=np.float32)
        whole[chunk["index"]] = chunk["pooled"]
        return torch.from_numpy(whole)

    def test_pooled(self) -> Tensor:
        """Pooled fp32 (N, K) of the test images, which are never augmented."""
        return self._pooled("test", "test")

    def _pooled(self, part: str, split: str) -> Tensor:
        whole = np.concatenate([chunk["pooled"] for chunk in self._chunks(part, split)])
        return torch.from_numpy(whole)

    def _checked(self, view: int | None) -> int:
        if view is None:
            return self.views[0]
        if view not in self.views:
            raise UserError(f"{self.folder} holds views {self.views}, not {view}.")
        return view

    def _chunks(self, part: str, split: str) -> list[dict[str, Array]]:
        """Memory maps of a part's chunks."""
        count = -(-self.meta["items"][split] // self.meta["chunk_rows"])
        return [mapped(self.folder / chunk_name(part, number)) for number in range(count)]

    @cached_property
    def map_index(self) -> Array:
        """The training images whose maps are cached, ascending."""
        chunks = self._chunks(view_part(self.views[0]), "train")
        return np.concatenate([chunk["index"] for chunk in chunks])

    @cached_property
    def _starts(self) -> Array:
        """Position in `map_index` at which each chunk's rows begin, and their end."""
        edges = np.arange(0, self.meta["items"]["train"], self.meta["chunk_rows"])
        return np.append(np.searchsorted(self.map_index, edges), len(self.map_index))

    def rows(self, index: Tensor | Array, view: int | None = None) -> Tensor:
        """Maps fp32 (n, H, W, K) of training images `index`, in its order, repeats allowed."""
        view = self._checked(view)
        wanted = np.asarray(index, dtype=np.int64)
        rows_of_maps = np.searchsorted(self.map_index, wanted)
        found = (
            self.map_index[np.minimum(rows_of_maps, len(self.map_index) - 1)]
            if len(self.map_index)
            else np.full_like(wanted, -1)
        )
        if (found != wanted).any():
            raise UserError(
                f"{self.folder} keeps maps of {len(self.map_index)} training images; image "
                f"{wanted[found != wanted][0]} is not among them. Set features.maps_share to 1."
            )
        if view not in self._maps:
            chunks = self._chunks(view_part(view), "train")
            self._maps[view] = [chunk["maps"] for chunk in chunks]
        return torch.from_numpy(self._gathered(self._maps[view], rows_of_maps)).float()

    def _gathered(self, maps: list[Array], rows_of_maps: Array) -> Array:
        """Rows in file order within each chunk, put where they belong."""
        result = np.empty((len(rows_of_maps), *self.meta["map_shape"]), dtype=np.float16)
        order = np.argsort(rows_of_maps, kind="stable")
        edges = np.searchsorted(rows_of_maps[order], self._starts)
        for number, (start, end) in enumerate(pairwise(edges)):
            if start < end:
                here = order[start:end]
                result[here] = maps[number][rows_of_maps[here] - self._starts[number]]
        return result

    def describe(self) -> dict[str, Any]:
        """Shapes, types, counts per class and the share of zeros, for people."""
        n_classes = len(self.classes)
        sample = self.map_index[:: max(1, len(self.map_index) // _SAMPLE)]
        maps = self.rows(sample)
        return {
            "dataset": self.meta["dataset"],
            "settings": self.meta["settings"],
            "views": self.views,
            "pooled": {
                "dtype": "float32",
                "train": self.meta["items"]["train"],
                "test": self.meta["items"]["test"],
                "channels": self.n_channels,
            },
            "maps": {"dtype": "float16", "shape": [len(self.map_index), *self.meta["map_shape"]]},
            "per_class": {
                split: torch.bincount(self.labels(split), minlength=n_classes).tolist()
                for split in ("train", "test")
            },
            "zeros": {
                "entries": float((maps == 0).float().mean()) if len(maps) else None,
                "whole_channels": float((maps == 0).all(2).all(1).float().mean())
                if len(maps)
                else None,
            },
        }
