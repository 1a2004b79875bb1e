"""The specification curve: every gain in order, and below it the choices behind each one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sharc.figures.style import Drawing
from sharc.specifications.curve import Curve
from sharc.specifications.factors import Factor

# Each direction has a colour and a marker of its own, so grey print keeps them apart.
_LOOK: dict[str, tuple[str, str, str]] = {
    "up": ("#0072B2", "^", "up"),
    "down": ("#D55E00", "v", "down"),
    "undecided": ("#777777", "o", "undecided"),
}
_ROW = 0.125  # inches per value of a factor
_TOP = 2.3  # inches of the curve
_WIDE, _NARROW = 7.8, 3.9


def draw(curve: Curve, factors: Sequence[Factor], *, name: str, title: str, what: str) -> Drawing:
    """`what` says what the gain is of, for the axis and the caption."""
    frame = table(curve, factors)
    wide, narrow = (_sheet(curve, factors, what, width) for width in (_WIDE, _NARROW))
    return Drawing(name, title, _caption(curve, what), wide, frame, narrow=narrow)


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


def _sheet(curve: Curve, factors: Sequence[Factor], what: str, width: float) -> Figure:
    rows = sum(len(factor.values) + 1 for factor in factors)
    figure = Figure(figsize=(width, _TOP + _ROW * rows + 0.6))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[_TOP, _ROW * rows])
    _curve(above, curve, what)
    _dashboard(below, curve, factors)
    counts = curve.directions
    handles = [
        Line2D([], [], color=colour, marker=marker, ls="none", label=f"{word}: {counts[key]}")
        for key, (colour, marker, word) in _LOOK.items()
        if counts[key]
    ]
    above.legend(handles=handles, loc="upper left", fontsize=7)
    return figure


def _curve(axes: Axes, curve: Curve, what: str) -> None:
    for place, point in enumerate(curve.points):
        colour, marker, _ = _LOOK[point.gain.direction]
        ends = [point.gain.low, point.gain.high]
        axes.plot([place, place], ends, color=colour, lw=0.8, alpha=0.7, zorder=2)
        axes.plot(place, point.gain.mean, marker=marker, color=colour, markersize=2.6, zorder=3)
    axes.axhline(0, color="#000000", lw=0.9, zorder=1)
    axes.axhline(curve.median, color="#000000", lw=0.8, ls="--", zorder=1)
    axes.annotate(
        f"median {curve.median:+.1f}", (1, curve.median), xycoords=("axes fraction", "data"),
        ha="right", va="bottom", fontsize=7, xytext=(0, 1), textcoords="offset points",
    )  # fmt: skip
    axes.set_ylabel(f"{what} (points)", fontsize=8)
    axes.grid(False, axis="x")


def _dashboard(axes: Axes, curve: Curve, factors: Sequence[Factor]) -> None:
    """A tick where a specification makes the choice of the row; at the right its median gain."""
    row, ticks, names = 0, [], []
    for factor in factors:
        for value, median in medians(curve, factor).items():
            made = [
                place
                for place, point in enumerate(curve.points)
                if point.specification.choices[factor.name] == value
            ]
            axes.plot(
                made, [row] * len(made), ls="none", marker="|", markersize=4.6, color="#222222"
            )
            ticks.append(row)
            names.append(f"{factor.name}: {value}" if value == factor.default else str(value))
            if np.isfinite(median):
                axes.annotate(
                    f"{median:+.1f}", (1.005, row), xycoords=("axes fraction", "data"),
                    va="center", fontsize=6, annotation_clip=False,
                )  # fmt: skip
            row += 1
        axes.axhline(row, color="#BBBBBB", lw=0.6)
        row += 1
    axes.set_yticks(ticks, names, fontsize=6)
    axes.set_ylim(row - 0.5, -1)
    axes.set_xlabel("specifications in order of gain")
    axes.set_xticks([])
    axes.grid(False)


def _caption(curve: Curve, what: str) -> str:
    lost = f" {len(curve.missing)} specifications are missing." if curve.missing else ""
    return (
        f"Above: {what} in each of {len(curve.points)} specifications, with its 95 % interval over "
        "seeds; dashed: the median. Below: the choices of each specification, the default of each "
        "factor first, and at the right the median of those that make the choice." + lost
    )
