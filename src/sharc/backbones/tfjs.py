"""TensorFlow.js weights as plain data: model.json names shapes and shards; no JavaScript runs."""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from sharc.artifacts.arrays import Array
from sharc.datasets.archives import members
from sharc.errors import UserError

_MODEL = "model.json"


def read_tfjs(archive: Path, folder: str) -> dict[str, Array]:
    """Every tensor of the model in `folder` of the archive, by its name."""
    files = dict(members(archive, lambda name: name.startswith(f"{folder}/")))
    files = {name.rpartition("/")[2]: content for name, content in files.items()}
    if _MODEL not in files:
        raise UserError(f"{archive} holds no {folder}/{_MODEL}.")
    try:
        groups = json.loads(files[_MODEL])["weightsManifest"]
        found = [_tensors(group, files, archive) for group in groups]
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(
            f"{archive}: {folder}/{_MODEL} does not describe its weights "
            f"({type(error).__name__}: {error})."
        ) from None
    return {name: tensor for group in found for name, tensor in group.items()}


def _tensors(
    group: Mapping[str, Any], files: Mapping[str, bytes], archive: Path
) -> dict[str, Array]:
    """One group: its shards joined, then cut where one tensor ends and the next begins."""
    if absent := [path for path in group["paths"] if path not in files]:
        raise UserError(f"{archive} lacks the shard {absent[0]} that {_MODEL} names.")
    if foreign := {entry["dtype"] for entry in group["weights"]} - {"float32"}:
        raise UserError(f"{archive} holds tensors of {', '.join(foreign)}; only float32 is read.")
    values = np.frombuffer(b"".join(files[path] for path in group["paths"]), dtype="<f4")
    shapes = {entry["name"]: tuple(entry["shape"]) for entry in group["weights"]}
    ends = np.cumsum([prod(shape) for shape in shapes.values()])
    if len(values) != ends[-1]:
        raise UserError(f"{archive} holds {len(values)} weights where {_MODEL} names {ends[-1]}.")
    parts = np.split(values, ends[:-1])
    return {
        name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
