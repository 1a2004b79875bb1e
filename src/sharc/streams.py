"""Task streams from Python: of a project's cached features, or of arrays at hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from sharc.config import Params
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError, unknown
from sharc.features.streams import load_stream as read_stream
from sharc.project import find_project, load_params


def load_stream(
    dataset: str | None = None, params: Params | None = None, folder: Path | str | None = None
) -> TaskStream:
    """A data set's cached features as a sequence of tasks, as the pipeline trains on them.

    dataset: one of the suite's data sets, by default its first. The features must have been built
    (`snakemake --cores 2 all` builds all; the error names the command for what is missing).
    """
    project = find_project(folder)
    params = params or load_params(folder=project)
    datasets = params.chosen.datasets
    name = datasets[0] if dataset is None else dataset
    if name not in datasets:
        raise UserError(f"suite {params.suite!r}: {unknown('data set', name, datasets)}")
    features = project / "outputs/features" / name / params.chosen.backbone
    split = project / f"data/splits/{name}.json"
    missing = [path for path in (split, features / "meta.json") if not path.is_file()]
    if missing:
        raise UserError(
            f"{missing[0]} does not exist. Build it first:\n  cd {project}\n  snakemake --cores 2 "
            f"{' '.join(str(path.relative_to(project)) for path in missing)}"
            f" --config suite={params.suite}"
        )
    return read_stream(features, split)


def make_stream(
    train: tuple[ArrayLike | Tensor, ArrayLike | Tensor],
    test: tuple[ArrayLike | Tensor, ArrayLike | Tensor],
    tasks: int,
    name: str = "mine",
) -> TaskStream:
    """A task stream of your own features.

    train, test: features and labels. Features are pooled vectors [N, D], or feature maps
    [N, H, W, K], which SHARC's associative memories need. Labels are 0 to C - 1; task t gets the
    t-th C / tasks of them.

    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(40) % 4
    >>> stream = make_stream((rng.random((40, 8)), labels), (rng.random((40, 8)), labels), tasks=2)
    >>> stream.n_tasks, stream.n_features, stream.classes
    (2, 8, [[0, 1], [2, 3]])
    """
    x, y = _pair("train", *train)
    test_x, test_y = _pair("test", *test)
    classes = _classes(y, test_y, tasks)
    maps = _HeldMaps(x) if x.ndim == 4 else None
    return TaskStream(
        x=_pooled(x),
        y=y,
        train_tasks=_rows(y, classes),
        test_x=_pooled(test_x),
        test_y=test_y,
        test_tasks=_rows(test_y, classes),
        classes=classes,
        n_classes=sum(map(len, classes)),
        maps=maps,
        map_size=(x.shape[1], x.shape[2]) if maps else (1, 1),
        name=name,
    )


@dataclass(frozen=True)
class _HeldMaps:
    """Maps that are all in memory, [N, H, W, K]."""

    maps: Tensor

    def rows(self, index: Tensor) -> Tensor:
        return self.maps[index]


def _pair(part: str, features: Any, labels: Any) -> tuple[Tensor, Tensor]:
    x = torch.as_tensor(np.asarray(features), dtype=torch.float32)
    y = torch.as_tensor(np.asarray(labels))
    if x.ndim not in (2, 4) or y.shape != x.shape[:1] or y.is_floating_point():
        raise UserError(
            f"{part}: features {tuple(x.shape)} with labels {tuple(y.shape)} of {y.dtype}. Legal: "
            "features (N, D) or (N, H, W, K), and N whole numbers as labels."
        )
    return x, y.long()


def _classes(y: Tensor, test_y: Tensor, tasks: int) -> list[list[int]]:
    found = y.unique().tolist()
    if found != list(range(len(found))) or test_y.unique().tolist() != found:
        raise UserError(
            f"labels of train are {found} and of test {test_y.unique().tolist()}: both must hold "
            "every class from 0 on."
        )
    if tasks < 1 or len(found) % tasks:
        raise UserError(f"{len(found)} classes do not divide into {tasks} tasks of equal size.")
    return torch.arange(len(found)).view(tasks, -1).tolist()


def _pooled(x: Tensor) -> Tensor:
    return x.mean(dim=(1, 2)) if x.ndim == 4 else x


def _rows(y: Tensor, classes: Sequence[Sequence[int]]) -> list[Tensor]:
    return [torch.isin(y, torch.tensor(own)).nonzero().flatten() for own in classes]
