"""The paper's accuracy against ours, cell by cell, with the diagonal of equality."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sharc.figures.left_out import left_out, tabled
from sharc.figures.style import COLOURS, MARKERS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.comparison import compare
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout
from sharc.results.paper import Paper

NAME, TITLE = "paper_against_ours", "The paper's accuracy against ours"
DATA = (
    "dataset", "scenario", "method", "buffer",
    "paper_acc", "our_acc", "paper_plus_acc", "our_plus_acc",
)  # fmt: skip
KINDS = ("", "plus_")  # the method alone, and with SHARC


def draw(results: Results, layout: Layout, paper: Paper) -> Iterator[Drawing | Omitted]:
    """Rows: data sets; columns: scenarios. Hollow: base, filled: with SHARC, marker: method."""
    frame = compare(results, layout, paper)
    pairs = [frame[[f"paper_{kind}acc", f"our_{kind}acc"]].notna().all(axis=1) for kind in KINDS]
    frame = frame[pairs[0] | pairs[1]]
    if frame.empty:
        yield Omitted(NAME, TITLE, "the paper has no numbers for this suite's data sets")
        return
    datasets = list(dict.fromkeys(frame["dataset"]))
    figure, axes = panels(len(datasets), 2, (3.6, 3.3))
    for dataset, line in zip(datasets, axes, strict=True):
        for scenario, panel in zip(SCENARIOS, line, strict=True):
            here = (frame["dataset"] == dataset) & (frame["scenario"] == scenario)
            _panel(panel, frame[here])
            panel.set_title(f"{labels.dataset(dataset)}, {labels.scenario(scenario)}")
    figure.legend(handles=_legend(frame), loc="outside lower center", ncols=5, fontsize=7)
    caption = (
        "Each cell of the paper's tables (horizontal) against the same cell of ours (vertical); "
        "on the diagonal both are equal. One point per method and buffer; hollow: the method "
        "alone; filled: with SHARC."
    )
    planned = results.summary[results.summary["dataset"].isin(datasets)]
    caption += left_out(tabled(planned, layout))
    yield Drawing(NAME, TITLE, caption, figure, frame[list(DATA)])


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    values = []
    for row in frame.to_dict("records"):
        for kind in KINDS:
            x, y = row[f"paper_{kind}acc"], row[f"our_{kind}acc"]
            if np.isfinite(x) and np.isfinite(y):
                axes.plot(x, y, **_look(row["method"], filled=bool(kind)))
                values += [x, y]
    if values:
        room = 0.06 * (max(values) - min(values)) + 0.5
        ends = (min(values) - room, max(values) + room)
        axes.plot(ends, ends, color="#000000", lw=0.8, zorder=0)
        axes.set(xlim=ends, ylim=ends)
    axes.set_aspect("equal")
    axes.set_xlabel("paper, ACC (%)")
    axes.set_ylabel("ours, ACC (%)")


def _look(method: str, *, filled: bool) -> dict[str, Any]:
    colour = COLOURS.get(method, "#333333")
    return {
        "color": colour, "marker": MARKERS.get(method, "o"), "ls": "none", "markersize": 5.5,
        "markerfacecolor": colour if filled else "white",
    }  # fmt: skip


def _legend(frame: pd.DataFrame) -> list[Line2D]:
    return [
        *(
            Line2D(
                [],
                [],
                **_look(method, filled=method not in labels.NAIVE),
                label=labels.method(method),
            )
            for method in dict.fromkeys(frame["method"])
        ),
        Line2D([], [], **_look("", filled=False), label="hollow: the method alone"),
        Line2D([], [], **_look("", filled=True), label="filled: with SHARC"),
    ]
