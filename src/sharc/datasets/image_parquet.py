"""Parquet files with a column of images and one of labels, as on the Hugging Face hub.

train*.parquet and test*.parquet (or validation*, val*), or any other files, from which a test set
is drawn. An image is its file's bytes, alone or as {"bytes": ..., "path": ...}.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sharc.datasets.first_sight import files_below
from sharc.datasets.image_set import ImageSet, Item
from sharc.errors import UserError

_IMAGE, _LABEL = ("image", "img"), ("label", "labels", "fine_label", "class")
_SPLITS = {"train": "train", "test": "test", "validation": "test", "val": "test"}


class ImageParquet(ImageSet):
    """`datasets: {birds: {parquet: path/to/files, tasks: 5}}`."""

    option = "parquet"

    def items(self, root: Path) -> list[Item]:
        """The rows of all files, in order."""
        files = [root] if root.is_file() else files_below(root)
        files = [file for file in files if file.suffix == ".parquet"]
        if not files:
            raise UserError(f"{root} holds no *.parquet.")
        splits = {file: _split_of(file) for file in files}
        drawn = {"train", "test"} - set(splits.values())
        return [item for file in files for item in _rows(file, None if drawn else splits[file])]


def _split_of(file: Path) -> str | None:
    return next((split for name, split in _SPLITS.items() if file.name.startswith(name)), None)


def _rows(file: Path, split: str | None) -> Iterator[Item]:
    table = _pyarrow().read_table(file)
    image, label = (_column(file, table.column_names, names) for names in (_IMAGE, _LABEL))
    classes = _classes(table.schema.metadata, label)
    images, labels = table[image].combine_chunks(), table[label].to_pylist()
    for row, value in enumerate(labels):
        name = classes[value] if classes and isinstance(value, int) else str(value)
        yield Item(f"row {row} of {file}", name, split, partial(_content, images, row))


def _column(file: Path, columns: list[str], wanted: tuple[str, ...]) -> str:
    found = next((name for name in wanted if name in columns), None)
    if found is None:
        raise UserError(f"{file} has no column {' or '.join(wanted)}, only {', '.join(columns)}.")
    return found


def _classes(metadata: dict[bytes, bytes] | None, label: str) -> list[str]:
    """Class names from what the library `datasets` writes next to its columns."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
        return [str(name) for name in features[label]["names"]]
    except (KeyError, ValueError, TypeError):
        return []


def _content(images: Any, row: int) -> bytes:
    value = images[row].as_py()
    content = value.get("bytes") if isinstance(value, dict) else value
    if not isinstance(content, bytes):
        raise UserError(f"row {row} holds no bytes of an image, only {type(content).__name__}.")
    return content


def _pyarrow() -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise UserError("needs the package pyarrow: pip install 'sharc[parquet]'") from None
    return parquet
