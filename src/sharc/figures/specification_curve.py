"""The specification curve: every gain in order, and below it the choices behind each one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sharc.figures.style import Drawing
from sharc.results.labels import signed
from sharc.specifications.curve import Curve
from sharc.specifications.factors import Factor, Value
from sharc.specifications.words import shown

# Up lies above zero and down below: in grey print only `undecided` must stand apart, and is paler.
LOOK: dict[str, tuple[str, str]] = {
    "up": ("#0072B2", "^"),
    "down": ("#C44E00", "v"),
    "undecided": ("#A6A6A6", "o"),
}
_ROW = 0.125  # inches per value of a factor
_TOP = 2.3  # inches of the curve
_WIDE, _NARROW = 7.8, 3.9


def draw(curve: Curve, factors: Sequence[Factor], *, name: str, title: str, what: str) -> Drawing:
    """`what` says what the gain is of, for the axis and the caption."""
    frame = table(curve, factors)
    wide, narrow = (_sheet(curve, factors, what, width) for width in (_WIDE, _NARROW))
    return Drawing(name, title, _caption(curve, what), wide, frame, narrow=narrow, dense=True)


def table(curve: Curve, factors: Sequence[Factor]) -> pd.DataFrame:
    """One row per specification, in the order of the curve."""
    rows = [
        {
            "specification": point.specification.id,
            "gain": point.gain.mean,
            "low": point.gain.low,
            "high": point.gain.high,
            "seeds": point.gain.n,
            "direction": point.gain.direction,
            **{factor.name: point.specification.choices[factor.name] for factor in factors},
        }
        for point in curve.points
    ]
    return pd.DataFrame(rows)


def medians(curve: Curve, factor: Factor) -> dict[Any, float]:
    """The median gain of the specifications that make each choice; NaN where none does."""
    found: dict[Any, float] = {}
    for value in factor.values:
        made = [p.gain.mean for p in curve.points if p.specification.choices[factor.name] == value]
        found[value] = float(np.median(made)) if made else float("nan")
    return found


def points(axes: Axes, curve: Curve) -> None:
    """The gains in order, with their intervals, zero and the median."""
    for direction, (colour, marker) in LOOK.items():
        found = [(x, p.gain) for x, p in enumerate(curve.points) if p.gain.direction == direction]
        if not found:
            continue
        xs, gains = zip(*found, strict=True)
        lows, highs = [gain.low for gain in gains], [gain.high for gain in gains]
        _strokes(axes, xs, lows, highs, color=colour, lw=0.8, alpha=0.7, zorder=2)
        means = [gain.mean for gain in gains]
        axes.plot(xs, means, ls="none", marker=marker, color=colour, markersize=2.6, zorder=3)
    axes.axhline(0, color="#000000", lw=0.9, zorder=1)
    axes.axhline(curve.median, color="#000000", lw=0.8, ls="--", zorder=1)
    axes.grid(False, axis="x")


def legend(curve: Curve | None = None) -> list[Line2D]:
    """The directions and the median; of a curve, how many there are of each and where it lies."""
    counts = curve.directions if curve else dict.fromkeys(LOOK, 1)
    handles = [
        Line2D([], [], color=colour, marker=marker, ls="none",
               label=f"{name}: {counts[name]}" if curve else name)
        for name, (colour, marker) in LOOK.items()
        if counts[name]
    ]  # fmt: skip
    median = f"median {signed(curve.median, 1)}" if curve else "median"
    return [*handles, Line2D([], [], color="#000000", lw=0.8, ls="--", label=median)]


def _sheet(curve: Curve, factors: Sequence[Factor], what: str, width: float) -> Figure:
    rows = sum(len(factor.values) + 1 for factor in factors)
    figure = Figure(figsize=(width, _TOP + _ROW * rows + 0.6))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[_TOP, _ROW * rows])
    points(above, curve)
    above.set_ylabel(f"{what} (points)", fontsize=8)
    above.legend(handles=legend(curve), loc="upper left", fontsize=7)
    _dashboard(below, curve, factors)
    return figure


def _dashboard(axes: Axes, curve: Curve, factors: Sequence[Factor]) -> None:
    """A tick where a specification makes the choice of the row; at the right its median gain."""
    rows = [(factor, value) for factor in factors for value in factor.values]
    gaps = {factor.name: number for number, factor in enumerate(factors)}
    heights = [number + gaps[factor.name] for number, (factor, _) in enumerate(rows)]
    for (factor, value), height in zip(rows, heights, strict=True):
        _ticks(axes, curve, factor, value, height)
        if value == factor.default and height:
            axes.axhline(height - 1, color="#BBBBBB", lw=0.6)
        median = medians(curve, factor)[value]
        if np.isfinite(median):
            axes.annotate(
                signed(median, 1), (1.005, height), xycoords=("axes fraction", "data"),
                va="center", fontsize=6, annotation_clip=False,
            )  # fmt: skip
    axes.annotate(
        "median", (1.005, -1), xycoords=("axes fraction", "data"), va="center", fontsize=6,
        annotation_clip=False,
    )  # fmt: skip
    names = [
        f"{factor.name}: {shown(factor, value)}"
        if value == factor.default
        else shown(factor, value)
        for factor, value in rows
    ]
    axes.set_yticks(heights, names, fontsize=6)
    axes.set_ylim(heights[-1] + 0.5, -1)
    axes.set_xlabel("specifications in order of gain", fontsize=8)
    axes.set_xticks([])
    axes.grid(False)


def _ticks(axes: Axes, curve: Curve, factor: Factor, value: Value, height: int) -> None:
    """One row, in the colours of the curve above."""
    for direction, (colour, _) in LOOK.items():
        made = [
            x
            for x, point in enumerate(curve.points)
            if point.specification.choices[factor.name] == value
            and point.gain.direction == direction
        ]
        ends = ([height + side * 0.38] * len(made) for side in (-1, 1))
        _strokes(axes, made, *ends, color=colour, lw=1)


def _strokes(
    axes: Axes, xs: Sequence[int], lows: Sequence[float], highs: Sequence[float], **look: Any
) -> None:
    """Vertical lines as one path: a path for each would make an SVG of half a megabyte."""
    gaps = [np.nan] * len(xs)
    heights = np.column_stack([lows, highs, gaps]).ravel()
    axes.plot(np.repeat(xs, 3), heights, **look, solid_capstyle="butt")


def _caption(curve: Curve, what: str) -> str:
    missing = len(curve.missing)
    lost = f" Missing specifications: {missing}." if missing else ""
    return (
        f"Above: {what} in each of {len(curve.points)} specifications, with its 95 % interval over "
        "seeds; dashed: the median. Below: the choices of each specification, the default of each "
        "factor first, and at the right the median of those that make the choice." + lost
    )
