"""The sheet every figure is drawn on: style, colours, markers, and files without dates."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from sharc.artifacts.files import write_atomically, write_text
from sharc.looks import Shown

STYLE = Path(__file__).with_name("paper.mplstyle")
COLOURS, MARKERS = Shown("method", "colour"), Shown("method", "marker")
MEMORY_COLOURS, MEMORY_MARKERS = Shown("memory", "colour"), Shown("memory", "marker")
BASE_LINE, PLUS_LINE = ":", "-"


@dataclass(frozen=True)
class Drawing:
    """A finished figure with its caption and the numbers it shows; photographs keep all colours.

    `narrow` is the same figure for a screen too narrow for the wide one. One with thousands of
    strokes is `dense`: it is saved without an SVG, which would be many times the size of the PNG.
    """

    name: str
    title: str
    caption: str
    figure: Figure
    data: pd.DataFrame | None = None  # None where a stage writes the numbers itself
    photographs: bool = False
    narrow: Figure | None = None
    dense: bool = False


@dataclass(frozen=True)
class Omitted:
    """A figure this suite has no data for; the index says so instead of an empty sheet."""

    name: str
    title: str
    reason: str


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib's defaults plus our sheet, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        style.use(STYLE)
        yield


def panels(rows: int, columns: int, size: tuple[float, float], **share: Any) -> tuple[Figure, Any]:
    """A figure of `rows` x `columns` axes (always a 2-d array), `size` inches each."""
    figure = Figure(figsize=(size[0] * columns, size[1] * rows))
    return figure, figure.subplots(rows, columns, squeeze=False, **share)


def level_line(axes: Axes, value: float, name: str, text: str) -> None:
    """A labelled horizontal reference such as SGD, which needs no buffer."""
    style = {"sgd": "--", "joint": "-."}.get(name, "--")
    axes.axhline(value, color=COLOURS.get(name, "#555555"), linestyle=style, linewidth=1.1)
    axes.annotate(
        text, (0.0, value), xycoords=("axes fraction", "data"), ha="left", va="bottom",
        fontsize=7, color=COLOURS.get(name, "#555555"),
        textcoords="offset points", xytext=(2, 1),
    )  # fmt: skip


def _shrink(path: Path) -> None:
    """A palette of 256 colours: a third of the size, and line art loses nothing visible."""
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, format="PNG", optimize=True)


def save(drawing: Drawing, out: Path) -> list[str]:
    """Write PNG, PDF and SVG with no date, tool or version inside, and the numbers as CSV."""
    endings = [ending for ending in _UNDATED if not (drawing.dense and ending == "svg")]
    made = [out / f"{drawing.name}.{ending}" for ending in endings]
    for path in made:
        _write(drawing.figure, path, small=not drawing.photographs)
    if drawing.narrow is not None:
        made.append(out / f"{drawing.name}_narrow.{'png' if drawing.dense else 'svg'}")
        _write(drawing.narrow, made[-1], small=not drawing.photographs)
    if drawing.data is not None:
        made.append(out / f"{drawing.name}.csv")
        numbers = drawing.data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
        write_text(made[-1], numbers)
    return [path.name for path in made]


def _write(figure: Figure, path: Path, *, small: bool) -> None:
    ending = path.suffix.removeprefix(".")
    with write_atomically(path) as partial:
        figure.savefig(partial, format=ending, metadata=_UNDATED[ending])
        if small and ending == "png":
            _shrink(partial)


_UNDATED: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
}
