"""Accuracy against everything a method holds in memory, not only what the paper counts."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from sharc.plots.canvas import COLOURS, MARKERS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.frames import Results
from sharc.results.layout import SCENARIOS, Layout

NAME, TITLE = "held", "Accuracy against total bytes held"


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """Rows: data sets; columns: scenarios. Hollow: whole maps; filled: with SHARC."""
    frame = results.summary
    frame = frame[(frame["buffer"] > 0) & (frame["total_bytes"] > 0) & (frame["n"] > 0)]
    datasets = [name for name in layout.datasets if name in set(frame["dataset"])]
    if not datasets:
        yield Omitted(NAME, TITLE, "this suite has no runs with a buffer")
        return
    figure, axes = panels(len(datasets), 2, (3.7, 2.6), sharex=True)
    for dataset, line in zip(datasets, axes, strict=True):
        for scenario, place in zip(SCENARIOS, line, strict=True):
            _panel(place, results.summary, frame, layout, dataset, scenario)
    for place in axes[-1]:
        place.set_xlabel("bytes held at the end of a run (MB)")
    figure.legend(handles=_legend(layout), loc="outside lower center", ncols=5, fontsize=7)
    caption = (
        "Average accuracy against all bytes held: kept values, indices, labels, logits, the "
        "associative memory's weights and their prior copy. A line joins the buffers of one "
        "method; hollow and dotted: whole maps; filled and solid: with SHARC. The paper counts "
        "the kept values only. SGD holds nothing."
    )
    yield Drawing(NAME, TITLE, caption, figure)


def _panel(
    axes: Axes, summary: pd.DataFrame, frame: pd.DataFrame, layout: Layout,
    dataset: str, scenario: str,
) -> None:  # fmt: skip
    here = frame[(frame["dataset"] == dataset) & (frame["scenario"] == scenario)]
    for method in layout.plus_methods():
        for plus in (False, True):
            variant = layout.variant(scenario, plus=plus)
            cells = here[(here["method"] == method) & (here["variant"] == variant)]
            cells = cells[cells["buffer"].isin(layout.buffers)].sort_values("buffer")
            colour = COLOURS.get(method, "#333333")
            axes.plot(
                cells["total_bytes"] / 1e6, cells["acc_mean"], color=colour,
                ls="-" if plus else ":", marker=MARKERS.get(method, "o"),
                markerfacecolor=colour if plus else "white",
            )  # fmt: skip
    axes.set_xscale("log")
    for ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        ticks(FuncFormatter(lambda value, _: f"{value:g}" if str(value)[0] in "125" else ""))
    naive = summary[(summary["dataset"] == dataset) & (summary["scenario"] == scenario)]
    for value in naive.loc[naive["method"] == "sgd", "acc_mean"].dropna():
        axes.axhline(value, color=COLOURS["sgd"], ls="--", lw=1.1)
    axes.set_title(f"{labels.dataset(dataset)}, {labels.scenario(scenario)}")
    axes.set_ylabel("ACC (%)")


def _legend(layout: Layout) -> list[Line2D]:
    methods = [
        Line2D([], [], color=COLOURS.get(m, "#333333"), marker=MARKERS.get(m, "o"), ls="none",
               label=labels.method(m))
        for m in layout.plus_methods()
    ]  # fmt: skip
    return [
        *methods,
        Line2D([], [], color="#333333", ls=":", marker="o", markerfacecolor="white", label="whole"),
        Line2D([], [], color="#333333", ls="-", marker="o", label="with SHARC"),
        Line2D([], [], color=COLOURS["sgd"], ls="--", lw=1.1, label="SGD, holds nothing"),
    ]
