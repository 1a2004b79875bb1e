"""Learning curves: accuracy on the tasks seen so far, with SHARC solid and without dotted."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sharc.artifacts.runs import DENSE
from sharc.figures.left_out import left_out, tabled
from sharc.figures.ranges import FLAT, far_below, union
from sharc.figures.style import BASE_LINE, COLOURS, MARKERS, PLUS_LINE, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """One figure per data set and scenario, at the smallest buffer of the main tables."""
    for dataset in layout.datasets:
        for scenario in SCENARIOS:
            yield _figure(results, layout, dataset, scenario)


def _figure(results: Results, layout: Layout, dataset: str, scenario: str) -> Drawing | Omitted:
    name = f"curves_{dataset}_{scenario}"
    title = f"Learning curves, {labels.dataset(dataset)}, {labels.scenario(scenario)}"
    curves = results.curves
    curves = curves[(curves["dataset"] == dataset) & (curves["scenario"] == scenario)]
    planned = results.runs[results.runs["dataset"] == dataset]
    methods = [method for method in layout.plus_methods() if method in set(planned["method"])]
    buffer = layout.main[0]
    if not methods:
        return Omitted(name, title, f"this suite has no curves for {labels.dataset(dataset)}")
    curves = curves[curves["backbone"] == layout.backbone_of(results.summary, dataset)]
    columns = min(3, len(methods))
    rows = -(-len(methods) // columns)
    figure, axes = panels(rows, columns, (2.5, 2.1), sharex=True)
    grid = dict(zip(methods, axes.flat, strict=False))
    for method, panel in grid.items():
        _levels(panel, curves, layout)
        _panel(panel, curves, method, buffer, layout.variant(scenario, plus=True))
    for panel in axes.flat[len(methods) :]:
        panel.set_visible(False)
    apart = _share_heights(grid, columns)
    figure.supxlabel("tasks learned", fontsize=9)
    line = "\n" if rows == 1 else " "  # one row is lower than this is long
    figure.supylabel(f"accuracy on tasks{line}seen so far (%)", fontsize=9)
    data = _points(curves[curves["buffer"].isin([0, buffer])], layout, scenario)
    cells = tabled(results.summary, layout)
    lost = cells[
        (cells["dataset"] == dataset)
        & (cells["scenario"] == scenario)
        & cells["method"].isin([*layout.levels(), *methods])
        & cells["buffer"].isin([0, buffer])
    ]
    caption = _caption(layout, dataset, scenario, apart) + left_out(lost)
    return Drawing(name, title, caption, figure, data)


def _points(curves: pd.DataFrame, layout: Layout, scenario: str) -> pd.DataFrame:
    """Mean, minimum and maximum over seeds of every curve that is drawn."""
    shown = [DENSE, layout.variant(scenario, plus=True)]
    curves = curves[curves["variant"].isin(shown) & (curves["method"] != "joint")]
    keys = ["dataset", "scenario", "method", "variant", "buffer", "task"]
    return curves.groupby(keys, as_index=False)["accuracy"].agg(["mean", "min", "max"])


def _share_heights(grid: dict[str, Axes], columns: int) -> list[str]:
    """One vertical axis for all panels but those far below; its numbers where they are needed."""
    ranges = {name: panel.get_ylim() for name, panel in grid.items() if panel.has_data()}
    apart = far_below(ranges)
    together = {name: limits for name, limits in ranges.items() if name not in apart}
    low, high = union(together) if together else (0.0, 100.0)
    labelled = set()  # rows of panels whose axis has its numbers already
    for index, (name, panel) in enumerate(grid.items()):
        lowest = index + columns >= len(grid)  # of its column: below it is nothing
        panel.tick_params(labelbottom=lowest)
        if name in apart:
            panel.set_title(f"{panel.get_title()}, own axis")
            continue
        panel.set_ylim(min(low, high - FLAT), high)
        panel.tick_params(labelleft=index // columns not in labelled)
        labelled.add(index // columns)
    return apart


def _caption(layout: Layout, dataset: str, scenario: str, apart: list[str]) -> str:
    theta = layout.theta[scenario]
    names = ", ".join(labels.method(name) for name in apart)
    own = f" Far below the others, with a vertical axis of its own: {names}."
    return (
        f"Mean accuracy on the tasks seen so far after each task; {labels.dataset(dataset)}, "
        f"{labels.scenario(scenario)}, buffer {layout.main[0]}. Solid: with SHARC "
        f"({labels.memory(layout.memory)}, θ = {theta:g}); dotted: the method alone; dashed"
        f"{_without_buffer(layout)} without any buffer. Bands span the seeds' minimum and maximum."
        + (own if names else "")
    )


def _without_buffer(layout: Layout) -> str:
    sgd, *others = map(labels.method, layout.levels())
    return f": {', '.join([sgd, *others])}," if others else f" grey: {sgd}"


def _levels(axes: Axes, curves: pd.DataFrame, layout: Layout) -> None:
    """The methods without replay, the same in every panel."""
    for name in layout.levels():
        level = curves[curves["method"] == name].groupby("task")["accuracy"].mean()
        if len(level):
            colour, label = COLOURS.get(name, "#333333"), labels.method(name)
            axes.plot(level.index, level.to_numpy(), color=colour, ls="--", lw=1.1, label=label)


def _panel(axes: Axes, curves: pd.DataFrame, method: str, buffer: int, variant: str) -> None:
    mine = curves[(curves["method"] == method) & (curves["buffer"] == buffer)]
    for name, line, label in (
        (DENSE, BASE_LINE, labels.method(method)),
        (variant, PLUS_LINE, labels.method(method) + labels.PLUS),
    ):
        _line(axes, mine[mine["variant"] == name], method, line, label)
    axes.set_title(labels.method(method))
    if mine.empty:  # a panel that vanished would hide that every run failed
        axes.text(0.5, 0.6, "all runs failed", transform=axes.transAxes, ha="center", fontsize=8)
    if axes.get_lines():
        axes.legend(loc="best", fontsize=7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _line(axes: Axes, curve: pd.DataFrame, method: str, line: str, label: str) -> None:
    if curve.empty:
        return
    points = curve.groupby("task")["accuracy"].agg(["mean", "min", "max"])
    colour = COLOURS.get(method, "#333333")
    axes.plot(
        points.index, points["mean"], color=colour, ls=line, marker=MARKERS.get(method, "o"),
        markersize=3.5, markerfacecolor=colour if line == PLUS_LINE else "white",
        markevery=max(1, len(points) // 8), label=label,
    )  # fmt: skip
    axes.fill_between(points.index, points["min"], points["max"], color=colour, alpha=0.15, lw=0)
