"""What SHARC adds to each method: the gain per data set and buffer, over the paper's own."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sharc.figures.left_out import left_out, tabled
from sharc.figures.style import Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.comparison import compare
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout
from sharc.results.paper import Paper
from sharc.results.verdicts import IMPROVES, UNDECIDED, WORSENS

NAME, TITLE = "gains", "What SHARC adds to each method"
DATA = (
    "dataset", "scenario", "method", "buffer", "gain", "gain_low", "gain_high", "verdict",
    "paper_gain", "paper_low", "paper_high",
)  # fmt: skip
VERDICT_COLOURS = {IMPROVES: "#0072B2", WORSENS: "#D55E00", UNDECIDED: "#777777"}
BUFFER_MARKERS = ("o", "s", "^", "D", "v", "P")
_PAPER = "#D9D9D9"
_TICK: Any = {"marker": "|", "markersize": 6, "markeredgewidth": 1.4, "color": "#555555"}
_LINE = 0.125  # inches per interval
_SPREAD = 0.74  # of a method's height, for its intervals
_WIDTH, _LOWEST = 7.8, 3.0  # inches of a wide sheet and of its panels


def draw(results: Results, layout: Layout, paper: Paper) -> Iterator[Drawing | Omitted]:
    """Rows of panels: data sets; columns: scenarios; for narrow screens one below the other."""
    frame = table(results, layout, paper)
    if frame.empty:
        yield Omitted(NAME, TITLE, "this suite runs no method both with SHARC and without")
        return
    shown = results.summary[results.summary["method"].isin(layout.plus_methods())]
    lost = left_out(tabled(shown, layout))
    wide, narrow = (_sheet(frame, narrow=narrow) for narrow in (False, True))
    yield Drawing(NAME, TITLE, _caption(frame) + lost, wide, frame, narrow=narrow)


def table(results: Results, layout: Layout, paper: Paper) -> pd.DataFrame:
    """Our gain and the paper's, with intervals, in the order in which they are drawn."""
    frame = compare(results, layout, paper)
    frame = frame[frame["gain"].notna()]
    printed = [
        paper.gain(row["scenario"], row["dataset"], row["method"], row["buffer"])
        for row in frame.to_dict("records")
    ]
    frame = frame.assign(
        paper_low=[None if found is None else found.low for found in printed],
        paper_high=[None if found is None else found.high for found in printed],
    )
    return frame[list(DATA)]


def _sheet(frame: pd.DataFrame, *, narrow: bool) -> Figure:
    """All panels; gains of one scenario share their axis."""
    methods, buffers = list(dict.fromkeys(frame["method"])), list(dict.fromkeys(frame["buffer"]))
    grid, columns = _grid_of_panels(list(dict.fromkeys(frame["dataset"])), narrow=narrow)
    height = 0.6 + len(methods) * (0.12 + _LINE * len(buffers))
    size = (3.6 if narrow else _WIDTH / columns, max(_LOWEST, height))
    figure, axes = panels(-(-len(grid) // columns), columns, size)
    drawn = dict(zip(grid, axes.flat, strict=False))
    for index, ((dataset, scenario), panel) in enumerate(drawn.items()):
        here = frame[(frame["dataset"] == dataset) & (frame["scenario"] == scenario)]
        _panel(panel, here, methods, buffers)
        panel.set_title(f"{labels.dataset(dataset)}, {labels.scenario(scenario)}")
        panel.tick_params(labelleft=index % columns == 0)
    for scenario in SCENARIOS:
        _share_width([panel for (_, name), panel in drawn.items() if name == scenario])
    handles = _legend(frame)
    across = 2 if narrow else 4
    figure.legend(handles=handles, loc="outside lower center", ncols=across, fontsize=7)
    return figure


def _grid_of_panels(datasets: list[str], *, narrow: bool) -> tuple[list[tuple[str, str]], int]:
    """The panels in order, and how many there are in a row."""
    if not narrow and 1 < len(datasets) < 5:
        return [(dataset, scenario) for scenario in SCENARIOS for dataset in datasets], len(
            datasets
        )
    grid = [(dataset, scenario) for dataset in datasets for scenario in SCENARIOS]
    return grid, 1 if narrow else 2


def _share_width(grid: list[Axes]) -> None:
    limits = [panel.get_xlim() for panel in grid]
    for panel in grid:
        panel.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))


def _panel(axes: Axes, frame: pd.DataFrame, methods: list[str], buffers: list[int]) -> None:
    for row in frame.to_dict("records"):
        panel = (buffers.index(row["buffer"]) + 0.5) / len(buffers) - 0.5
        _gain(axes, row, methods.index(row["method"]) + _SPREAD * panel, _marker(row, buffers))
    axes.axvline(0, color="#000000", lw=0.9, zorder=1)
    axes.set_yticks(range(len(methods)), [labels.method(name) for name in methods])
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.grid(False, axis="y")
    for edge in range(1, len(methods)):
        axes.axhline(edge - 0.5, color="#DDDDDD", lw=0.6, zorder=0)
    axes.set_xlabel("gain in ACC (points)")


def _marker(row: dict[str, Any], buffers: list[int]) -> str:
    return BUFFER_MARKERS[buffers.index(row["buffer"]) % len(BUFFER_MARKERS)]


def _gain(axes: Axes, row: dict[str, Any], height: float, marker: str) -> None:
    """Our interval on top of the paper's, which is broad and pale."""
    colour = VERDICT_COLOURS[row["verdict"] or UNDECIDED]
    if pd.notna(row["paper_gain"]):
        ends = [row["paper_low"], row["paper_high"]]
        axes.plot(ends, [height] * 2, color=_PAPER, lw=4.5, solid_capstyle="butt", zorder=2)
        axes.plot(row["paper_gain"], height, **_TICK, zorder=3)
    axes.plot([row["gain_low"], row["gain_high"]], [height] * 2, color=colour, lw=1.5, zorder=4)
    axes.plot(row["gain"], height, marker=marker, color=colour, markersize=4.2, zorder=5)


def _legend(frame: pd.DataFrame) -> list[Line2D]:
    said = set(frame["verdict"])
    verdicts = [
        Line2D([], [], color=colour, marker="o", markersize=4.2, label=f"ours: {verdict}")
        for verdict, colour in VERDICT_COLOURS.items()
        if verdict in said
    ]
    buffers = [
        Line2D([], [], color="#333333", marker=marker, ls="none", label=f"buffer {buffer}")
        for buffer, marker in zip(dict.fromkeys(frame["buffer"]), BUFFER_MARKERS, strict=False)
    ]
    if frame["paper_gain"].isna().all():
        return verdicts + buffers
    paper = Line2D([], [], color=_PAPER, lw=4.5, label="the paper's", solid_capstyle="butt")
    return [*verdicts, paper, *buffers]


def _caption(frame: pd.DataFrame) -> str:
    paper = (
        " Pale bars with a tick: the paper's printed gain, whose interval is unpaired because the "
        "paper gives no single runs."
    )
    return (
        "Gain in average accuracy of each method with SHARC over the same method without, in "
        "points, paired by seed; right of zero SHARC helps. Bars: 95 % bootstrap interval over "
        "seeds; coloured where it excludes zero."
        + (paper if frame["paper_gain"].notna().any() else "")
    )
