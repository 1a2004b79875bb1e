"""Accuracy against everything a method holds in memory, not only what the paper counts."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sharc.figures.left_out import left_out, tabled
from sharc.figures.ranges import FLAT, Range, beyond_a_gap, union
from sharc.figures.style import COLOURS, MARKERS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout

NAME, TITLE = "held", "Accuracy against total bytes held"
STRIP = 0.25  # of a panel's height, for what lies far below


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """Rows: data sets; columns: scenarios. Hollow: whole maps; filled: with SHARC."""
    frame = results.summary
    lost = left_out(tabled(frame[frame["method"] != "joint"], layout))
    frame = frame[(frame["n"] > 0) & frame["buffer"].isin([0, *layout.buffers])]
    held = frame.loc[frame["total_bytes"] > 0, "dataset"]
    datasets = [name for name in layout.datasets if name in set(held)]
    if not datasets:
        yield Omitted(NAME, TITLE, "this suite has no runs with a buffer")
        return
    figure, axes = panels(len(datasets), 2, (3.7, 2.6), sharex=True)
    squeezed: dict[str, None] = {}
    for dataset, line in zip(datasets, axes, strict=True):
        for scenario, panel in zip(SCENARIOS, line, strict=True):
            here = frame[(frame["dataset"] == dataset) & (frame["scenario"] == scenario)]
            _panel(panel, here, layout, scenario)
            panel.set_title(f"{labels.dataset(dataset)}, {labels.scenario(scenario)}")
            ranges = _ranges(here, layout, scenario)
            if apart := beyond_a_gap(ranges):
                _squeeze(panel, ranges, apart)
                squeezed |= dict.fromkeys(apart)
            elif (high := panel.get_ylim()[1]) - panel.get_ylim()[0] < FLAT:
                panel.set_ylim(bottom=high - FLAT)
    for panel in axes[-1]:
        panel.set_xlabel("bytes held at the end of a run (MB)")
    handles = _legend(layout, set(frame["method"]))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=7)
    yield Drawing(NAME, TITLE, _caption(squeezed) + lost, figure, _data(frame, layout))


def _data(frame: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The cells that the panels show."""
    parts = [
        frame[(frame["scenario"] == scenario) & (frame["variant"] == variant)]
        for scenario in SCENARIOS
        for plus in (False, True)
        for variant in [layout.variant(scenario, plus=plus)]
    ]
    names = ["dataset", "scenario", "method", "variant", "buffer", "total_bytes", "acc_mean"]
    shown = pd.concat(parts)[names]
    return shown[shown["method"] != "joint"]


def _caption(squeezed: Iterable[str]) -> str:
    names = ", ".join(labels.method(name) for name in squeezed)
    strips = f" In the grey strips the scale is compressed, for methods far below: {names}."
    return (
        "Average accuracy against all bytes held: kept values, indices, labels, logits, further "
        "heads, the associative memory's weights and their prior copy. A line joins the buffers of "
        "one method; hollow and dotted: whole maps; filled and solid: with SHARC. The paper "
        "counts the kept values only. SGD holds nothing." + (strips if names else "")
    )


def _panel(axes: Axes, here: pd.DataFrame, layout: Layout, scenario: str) -> None:
    for method in layout.plus_methods():
        for plus in (False, True):
            variant = layout.variant(scenario, plus=plus)
            cells = here[(here["method"] == method) & (here["variant"] == variant)]
            cells = cells.sort_values("buffer")
            colour = COLOURS.get(method, "#333333")
            axes.plot(
                cells["total_bytes"] / 1e6, cells["acc_mean"], color=colour,
                ls="-" if plus else ":", marker=MARKERS.get(method, "o"),
                markerfacecolor=colour if plus else "white",
            )  # fmt: skip
    for name in layout.levels():
        for value in here.loc[here["method"] == name, "acc_mean"]:
            axes.axhline(value, color=COLOURS.get(name, "#333333"), ls="--", lw=1.1)
    axes.set_xscale("log")
    for ticks in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        ticks(FuncFormatter(lambda value, _: f"{value:g}" if str(value)[0] in "125" else ""))
    axes.set_ylabel("ACC (%)")


def _ranges(here: pd.DataFrame, layout: Layout, scenario: str) -> dict[str, Range]:
    """The accuracies that each method, SGD among them, spans in a panel."""
    variants = [layout.variant(scenario, plus=plus) for plus in (False, True)]
    drawn = here[here["variant"].isin(variants) & here["method"].isin(["sgd", *layout.methods])]
    spans = drawn[drawn["method"] != "joint"].groupby("method")["acc_mean"].agg(["min", "max"])
    return {str(name): (float(low), float(high)) for name, low, high in spans.itertuples()}


def _squeeze(axes: Axes, ranges: dict[str, Range], apart: list[str]) -> None:
    """Compress the scale below the other methods, so that these stay distinguishable."""
    low, high = union({name: span for name, span in ranges.items() if name not in apart})
    edge, top = low - 0.15 * (high - low), high + 0.08 * (high - low)
    bottom = union(ranges)[0]
    floor = bottom - 0.15 * (edge - bottom)
    values, heights = (floor, edge, top), (0, STRIP, 1)
    axes.set_yscale(
        "function",
        functions=(
            lambda y: np.interp(y, values, heights),
            lambda h: np.interp(h, heights, values),
        ),
    )
    axes.set_ylim(floor, top)
    clear = edge - 0.1 * (edge - floor)  # a number at the edge would touch the next above
    axes.set_yticks([*_ticks(floor, clear, 2), *_ticks(low, top, 5)])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.axhspan(floor, edge, color="#EEEEEE", lw=0, zorder=0)
    axes.axhline(edge, color="#555555", lw=0.8)


def _ticks(start: float, end: float, most: int) -> list[float]:
    """Round numbers within a part of the axis."""
    found = np.asarray(MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(start, end))
    return list(found[(found >= start) & (found <= end)])


def _legend(layout: Layout, drawn: set[str]) -> list[Line2D]:
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
        *(
            Line2D([], [], color=COLOURS.get(m, "#333333"), ls="--", lw=1.1, label=labels.method(m))
            for m in layout.levels()[1:]
            if m in drawn
        ),
    ]
