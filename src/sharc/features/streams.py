"""Cached features and a split as a stream of tasks to train on."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sharc.artifacts.files import read_json
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.features.cache import FeatureCache

_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError)


def load_stream(features: Path, split: Path, passes: int = 1, *, joint: bool = False) -> TaskStream:
    """The cached features of a data set, arranged in tasks by its split."""
    try:
        stream = _stream(FeatureCache(features), read_json(split)["tasks"], passes, joint)
        stream.check_finite()
    except _MALFORMED as error:
        raise UserError(
            f"{features} and {split} do not describe a stream of tasks "
            f"({type(error).__name__}: {error}): delete them and run `snakemake --cores 2 all`."
        ) from error
    return stream


def _stream(
    cache: FeatureCache, tasks: list[dict[str, Any]], passes: int, joint: bool
) -> TaskStream:
    drifting = None if cache.seeds is None else _Drifting(cache, passes, joint)
    return TaskStream(
        x=_views(cache, joint=joint and drifting is not None),
        y=cache.labels("train"),
        train_tasks=[torch.tensor(task["train"]) for task in tasks],
        test_x=drifting.test(cache.views[0], 0) if drifting else cache.test_pooled(),
        test_y=cache.labels("test"),
        test_tasks=[torch.tensor(task["test"]) for task in tasks],
        classes=[task["classes"] for task in tasks],
        n_classes=sum(len(task["classes"]) for task in tasks),
        maps=[_View(cache, view) for view in cache.views],
        map_size=cache.map_size,
        name=cache.meta["dataset"],
        seeds=cache.seeds,
        drifting=drifting,
        validation_tasks=[torch.tensor(task["validation"]) for task in tasks],
    )


@dataclass(frozen=True)
class _View:
    """The maps of one cached view."""

    cache: FeatureCache
    view: int

    def rows(self, index: torch.Tensor) -> torch.Tensor:
        return self.cache.rows(index, self.view)


@dataclass(frozen=True)
class _Drifting:
    """Test features after each task, if BatchNorm was in training mode."""

    cache: FeatureCache
    passes: int
    joint: bool

    def test(self, seed: int, trained: int) -> torch.Tensor:
        after = min(trained, 1) if self.joint else trained
        return self.cache.drifted_test(seed, self.passes, after, joint=self.joint)


def _views(cache: FeatureCache, *, joint: bool) -> torch.Tensor:
    """[N, D], or [V, N, D] when several views of each image were cached."""
    pooled = cache.joint_pooled if joint else cache.train_pooled
    views = [pooled(view) for view in cache.views]
    return views[0] if len(views) == 1 else torch.stack(views)
