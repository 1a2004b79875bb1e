"""Figure 1: a masked query, what an inpainter makes of it, and what a memory recalls."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from safetensors.numpy import load_file

from sharc.artifacts.files import read_json
from sharc.errors import UserError
from sharc.figures.style import Drawing, Omitted, panels
from sharc.results.rival_errors import hard_errors, means, number

NAME, TITLE = "figure1", "Content-based against generative retrieval (Figure 1)"
COLUMNS = {
    "original": "original", "query": "query", "inpainted": "inpainter", "recalled": "Hopfield",
}  # fmt: skip
RIVALS = {"inpainted": "inpainter", "recalled": "hopfield"}
HARD = 0.75  # the level from which claim figure-1 of data/paper/claims.yaml counts a corruption


def draw(folder: Path | None) -> Iterator[Drawing | Omitted]:
    """A grid: one row per example, the paper's four columns, errors below both answers."""
    if folder is None:
        yield Omitted(NAME, TITLE, "this suite does not build Figure 1")
        return
    path = folder / "examples.safetensors"
    if not path.is_file():
        raise UserError(f"{path} does not exist: build it with `snakemake --cores 2 all`.")
    images = load_file(path)  # bytes [n, H, W, 3] each
    if absent := [name for name in COLUMNS if name not in images]:
        raise UserError(f"{path} lacks {', '.join(absent)}: delete it and run again.")
    content = read_json(folder / "figure1.json")
    figure, axes = panels(len(content["examples"]), 4, (1.05, 1.2))
    for row, (example, line) in enumerate(zip(content["examples"], axes, strict=True)):
        errors = _errors(content, **example)
        for name, panel in zip(COLUMNS, line, strict=True):
            _picture(panel, images[name][row], errors.get(name, ""))
        line[0].set_ylabel(f"{example['corruption']} {example['level']:g}", fontsize=7)
    for label, panel in zip(COLUMNS.values(), axes[0], strict=True):
        panel.set_title(label)
    data = pd.json_normalize(content["rows"])
    yield Drawing(NAME, TITLE, _caption(content), figure, data, photographs=True)


def _picture(axes: Axes, image: Any, error: str) -> None:
    axes.imshow(image, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.set_xlabel(error, fontsize=7, labelpad=2)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _errors(content: dict[str, Any], corruption: str, level: float) -> dict[str, str]:
    """Column -> mean squared error over all stored images at this corruption."""
    (row,) = (
        row for row in content["rows"]
        if row["stored"] and (row["corruption"], row["level"]) == (corruption, level)
    )  # fmt: skip
    return {column: number(row[rival]["mse"]) for column, rival in RIVALS.items()}


def _caption(content: dict[str, Any]) -> str:
    seen, unseen = (
        means(hard_errors(content["rows"], HARD, stored=stored)) for stored in (True, False)
    )
    floats = content["floats"]
    return (
        "Stored images (first column), queries with part of the image lost (second), the answer "
        f"of an autoencoder inpainter of {floats['inpainter']:,} weights (third) and the recall of "
        f"a modern Hopfield network of {floats['hopfield']:,} numbers (fourth). Below: mean "
        f"squared error of all {content['images']} stored images at this corruption, pixels in "
        "[−1, 1], over lost pixels (under noise over all). Mean over the corruptions of level "
        f"{HARD:g} and more: {seen} for stored images; {unseen} for as many images that the memory "
        "does not hold."
    )
