"""The paper's accuracy against ours, cell by cell, with the diagonal of equality."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sharc.plots.canvas import COLOURS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.comparison import compare
from sharc.results.frames import Results
from sharc.results.layout import SCENARIOS, Layout
from sharc.results.paper import Paper

NAME, TITLE = "paper_against_ours", "The paper's accuracy against ours"
MARKERS = {"cifar10": "o", "cifar100": "s", "mini_imagenet": "^", "tiny_imagenet": "v"}


def draw(results: Results, layout: Layout, paper: Paper) -> Iterator[Drawing | Omitted]:
    """One panel per scenario; hollow: base, filled: with SHARC, colour: method."""
    frame = compare(results, layout, paper).dropna(subset=["paper_acc", "our_acc"])
    if frame.empty:
        yield Omitted(NAME, TITLE, "the paper has no numbers for this suite's data sets")
        return
    figure, axes = panels(1, 2, (3.6, 3.6))
    for scenario, place in zip(SCENARIOS, axes.flat, strict=True):
        _panel(place, frame[frame["scenario"] == scenario])
        place.set_title(labels.scenario(scenario))
    figure.legend(handles=_legend(frame), loc="outside lower center", ncols=5, fontsize=7)
    caption = (
        "Each cell of the paper's tables (horizontal) against the same cell of ours (vertical); "
        "on the diagonal both are equal. Hollow: the method alone; filled: with SHARC."
    )
    yield Drawing(NAME, TITLE, caption, figure)


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    values = []
    for row in frame.to_dict("records"):
        for kind in ("", "plus_"):
            x, y = row[f"paper_{kind}acc"], row[f"our_{kind}acc"]
            if not (np.isfinite(x) and np.isfinite(y)):
                continue
            colour = COLOURS.get(row["method"], "#333333")
            axes.plot(
                x, y, color=colour, ls="none", marker=MARKERS.get(row["dataset"], "D"),
                markerfacecolor=colour if kind else "white", markersize=5, alpha=0.85,
            )  # fmt: skip
            values += [x, y]
    if values:
        ends = (min(values) - 3, max(values) + 3)
        axes.plot(ends, ends, color="#000000", lw=0.8, zorder=0)
        axes.set_xlim(ends)
        axes.set_ylim(ends)
    axes.set_aspect("equal")
    axes.set_xlabel("paper, ACC (%)")
    axes.set_ylabel("ours, ACC (%)")


def _legend(frame: pd.DataFrame) -> list[Line2D]:
    methods = list(dict.fromkeys(frame["method"]))
    datasets = list(dict.fromkeys(frame["dataset"]))
    colours = [
        Line2D(
            [], [], ls="none", marker="o", color=COLOURS.get(m, "#333333"), label=labels.method(m)
        )
        for m in methods
    ]
    shapes = [
        Line2D([], [], ls="none", marker=MARKERS.get(d, "D"), color="#333333",
               markerfacecolor="white", label=labels.dataset(d))
        for d in datasets
    ]  # fmt: skip
    return colours + shapes
