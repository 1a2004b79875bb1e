"""Stage split: data/raw -> data/splits/<dataset>.json, classes assigned to tasks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sharc.artifacts.arrays import Array
from sharc.artifacts.files import write_json
from sharc.datasets.raw import RawData
from sharc.errors import UserError
from sharc.randomness import generator

ASCENDING = "ascending"
_RAISE = {  # the keys that decide how many images of a part are taken
    "train": "train_images",
    "validation": "train_images, of which data.validation_share are held out,",
    "test": "test_images",
}


def build(
    raw: Path,
    out: Path,
    *,
    tasks: int,
    class_order: str | int,
    validation_share: float,
    per_task: Mapping[str, int | None] | None = None,
    batch: int = 1,
) -> None:
    """Write class order and, per task, its classes and the rows of its images.

    `per_task`: at most so many training, validation and test images of each task, evenly over
    its classes.
    `batch`: so many training images each task must have, at least.
    """
    data = RawData(raw)
    order = _class_order(data, tasks, class_order)
    labels = {split: data.labels(split) for split in ("train", "test")}
    each = len(order) // tasks
    content = {
        "dataset": data.meta["dataset"],
        "class_order": order,
        "tasks": [
            _part(_task(order[at : at + each], labels, validation_share), labels, per_task or {})
            for at in range(0, len(order), each)
        ],
    }
    _check_sizes(content["dataset"], content["tasks"], batch)
    write_json(out, content)


def _check_sizes(name: str, tasks: list[dict[str, Any]], batch: int) -> None:
    """Refuse tasks on which training would refuse to start."""
    sizes = [len(task["train"]) for task in tasks]
    if min(sizes) < batch:
        raise UserError(
            f"task {sizes.index(min(sizes)) + 1} of {name} has {min(sizes)} training images, fewer "
            f"than train.batch ({batch}): lower train.batch to at most {min(sizes)}, set "
            f"datasets.{name}.tasks to fewer tasks, or add images."
        )


def _class_order(data: RawData, tasks: int, class_order: str | int) -> list[int]:
    """Ascending labels, or a permutation that the seed fixes."""
    n_classes, name = len(data.meta["classes"]), data.meta["dataset"]
    if tasks < 1 or n_classes % tasks:
        divisors = [n for n in range(1, n_classes + 1) if n_classes % n == 0]
        raise UserError(
            f"datasets.{name}.tasks is {tasks}, but {n_classes} classes do not divide into that "
            f"many tasks. Legal: {', '.join(map(str, divisors))}."
        )
    if class_order == ASCENDING:
        return list(range(n_classes))
    if isinstance(class_order, bool) or not isinstance(class_order, int):
        raise UserError(f"data.class_order is {class_order!r}: {ASCENDING!r} or a seed expected.")
    return torch.randperm(n_classes, generator=generator(class_order, "class_order")).tolist()


def _task(classes: list[int], labels: dict[str, Array], share: float) -> dict[str, Any]:
    """Rows of one task; the same share of every class's training images is held out."""
    train: list[int] = []
    validation: list[int] = []
    for label in classes:
        members = np.flatnonzero(labels["train"] == label)
        held = _held_out(len(members), label, share)
        train += members[~held].tolist()
        validation += members[held].tolist()
    test = np.flatnonzero(np.isin(labels["test"], classes)).tolist()
    return {
        "classes": classes,
        "train": sorted(train),
        "validation": sorted(validation),
        "test": test,
    }


def _part(
    task: dict[str, Any], labels: dict[str, Array], per_task: Mapping[str, int | None]
) -> dict[str, Any]:
    """The first images of every class, as many of each."""
    for split, most in per_task.items():
        if most is not None:
            rows = np.array(task[split])
            each = most // len(task["classes"])
            if each < 1:
                raise UserError(
                    f"{most} {split} images of a task of {len(task['classes'])} classes leave some"
                    f" class without any: raise {_RAISE[split]} in the suite's block `ladder` or"
                    " `specifications` to at least one image of each class."
                )
            of_rows = labels["test" if split == "test" else "train"][rows]
            first = [rows[of_rows == label][:each] for label in task["classes"]]
            task[split] = np.sort(np.concatenate(first)).tolist()
    return task


def _held_out(n_images: int, label: int, share: float) -> Array:
    """A mask over a class's images, drawn per class so that the task layout does not matter."""
    if not 0 <= share < 1:
        raise UserError(f"data.validation_share is {share}: at least 0 and below 1 expected.")
    count = round(n_images * share)
    if share > 0 and not 0 < count < n_images:
        raise UserError(
            f"data.validation_share {share} of class {label} with {n_images} training images "
            f"holds out {count}: choose a share that leaves both sides at least one image."
        )
    mask = np.zeros(n_images, dtype=bool)
    mask[torch.randperm(n_images, generator=generator(0, "validation", label))[:count].numpy()] = 1
    return mask
