"""Figure 1: a masked query, what an inpainter makes of it, and what a memory recalls."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from sharc.artifacts.files import read_json
from sharc.errors import UserError
from sharc.plots.canvas import Drawing, Omitted, panels

NAME, TITLE = "figure1", "Content-based against generative retrieval (Figure 1)"
COLUMNS = {
    "original": "original", "query": "query", "inpainted": "inpainter", "recalled": "Hopfield",
}  # fmt: skip
MOST = 6  # rows that still fit a page

Images = NDArray[np.float64]


def draw(folder: Path | None) -> Iterator[Drawing | Omitted]:
    """A grid: one row per example, the paper's four columns."""
    if folder is None:
        yield Omitted(NAME, TITLE, "this suite does not build Figure 1")
        return
    path = folder / "examples.safetensors"
    if not path.is_file():
        raise UserError(f"{path} does not exist: build it with `snakemake --cores 2 all`.")
    tensors = load_file(path)
    if absent := [name for name in COLUMNS if name not in tensors]:
        raise UserError(f"{path} lacks {', '.join(absent)}: delete it and run again.")
    images = {name: channels_last(tensors[name])[:MOST] for name in COLUMNS}
    content = read_json(folder / "figure1.json")
    names = row_names(content, len(images["original"]))
    figure, axes = panels(len(images["original"]), 4, (1.05, 1.05))
    for row, line in enumerate(axes):
        for (name, label), place in zip(COLUMNS.items(), line, strict=True):
            place.imshow(images[name][row], interpolation="nearest")
            place.set(xticks=[], yticks=[])
            place.grid(False)
            place.spines[:].set_visible(False)
            if row == 0:
                place.set_title(label)
        line[0].set_ylabel(names[row], fontsize=7)
    caption = (
        "Stored images (first column), queries with part of the image lost (second), an "
        "autoencoder inpainter's answer (third) and a modern Hopfield network's recall (fourth), "
        "both with about as many parameters. The comparison is about stored images only."
    )
    yield Drawing(NAME, TITLE, caption, figure, photographs=True)


def channels_last(images: NDArray[Any]) -> Images:
    """Images as floats in 0..1, shape (N, H, W, 3), from bytes or floats in either order."""
    if images.ndim == 4 and images.shape[1] in (1, 3) and images.shape[-1] not in (1, 3):
        images = np.moveaxis(images, 1, -1)
    if images.shape[-1] == 1:
        images = np.repeat(images, 3, axis=-1)
    scale = 255.0 if images.dtype == np.uint8 else 1.0
    return np.clip(images.astype(float) / scale, 0, 1)


def row_names(content: Any, count: int) -> list[str]:
    """The corruption of each example, where the stage wrote it."""
    examples = content.get("examples", []) if isinstance(content, dict) else []
    names = [
        f"{example.get('corruption', '')} {example.get('level', '')}".strip()
        if isinstance(example, dict)
        else str(example)
        for example in examples
    ]
    return (names + [""] * count)[:count]
