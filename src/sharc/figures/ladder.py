"""The ladder: ACC from the authors' procedure, at the top, down to the paper's text."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sharc.figures.style import BASE_LINE, COLOURS, MARKERS, PLUS_LINE, Drawing, panels
from sharc.results import labels
from sharc.results.ladder import decided
from sharc.results.ladder_plan import Column, LadderPlan
from sharc.results.layout import SCENARIOS
from sharc.tables import ladder_words

NAME, TITLE = "ladder", "From the authors' procedure to the paper's, one switch at a time"
PAPER_ROW = -1.0  # above the first rung
_APART = 0.16  # of a row, between the series of one panel: intervals must not hide each other
_DIM = "#555555"


def draw(frame: pd.DataFrame, ladder: LadderPlan) -> Drawing:
    """Rows of panels: data sets; columns: scenarios. Each row down changes one more switch."""
    size = (3.3, 0.9 + 0.28 * (len(ladder.rungs) + 1))
    figure, axes = panels(len(ladder.datasets), 2, size, sharey=True)
    figure.set_figwidth(9.0)
    for dataset, line in zip(ladder.datasets, axes, strict=True):
        for scenario, panel in zip(SCENARIOS, line, strict=True):
            here = frame[(frame["dataset"] == dataset) & (frame["scenario"] == scenario)]
            _panel(panel, here, ladder, dataset)
            panel.set_title(f"{labels.dataset(dataset)}, {labels.scenario(scenario)}")
            panel.set_xlabel("ACC (%)")
        _names(line[0], ladder)
    figure.legend(handles=_legend(ladder), loc="outside lower center", ncols=6, fontsize=8)
    return Drawing(NAME, TITLE, _caption(ladder), figure)


def _panel(axes: Axes, frame: pd.DataFrame, ladder: LadderPlan, dataset: str) -> None:
    columns = ladder.columns_of(dataset)
    for index, column in enumerate(columns):
        mine = frame[(frame["method"] == column.method) & (frame["variant"] == column.variant)]
        shift = _APART * (index - (len(columns) - 1) / 2)
        _series(axes, mine.sort_values("rung"), column, shift)
        _printed(axes, mine["paper_acc"].iloc[0], column, shift)
    axes.axhline(PAPER_ROW + 0.5, color=_DIM, lw=0.8)
    axes.set_ylim(len(ladder.rungs) - 0.4, PAPER_ROW - 0.5)
    axes.set_axisbelow(True)


def _series(axes: Axes, mine: pd.DataFrame, column: Column, shift: float) -> None:
    """A marker with its interval where runs were made; a thick step where the effect is decided."""
    colour = COLOURS.get(column.method, "#333333")
    heights = mine["rung"].to_numpy(float) + shift
    means = mine["acc_mean"].to_numpy()
    thick = decided(mine)
    style = PLUS_LINE if column.plus else BASE_LINE
    for step in range(1, len(mine)):
        ends = slice(step - 1, step + 1)
        axes.plot(
            means[ends], heights[ends], color=colour, ls=style, lw=2.6 if thick[step] else 1.1,
            solid_capstyle="butt", zorder=2,
        )  # fmt: skip
    for y, row in zip(heights, mine.to_dict("records"), strict=True):
        _point(axes, row, column, y)


def _point(axes: Axes, row: dict[str, float], column: Column, height: float) -> None:
    colour = COLOURS.get(column.method, "#333333")
    if row["n"] == 0:
        axes.annotate(
            f"{column.label} missing", (1.0, height), xycoords=("axes fraction", "data"),
            ha="right", va="center", fontsize=5.5, color=colour,
        )  # fmt: skip
        return
    if row["reused"]:
        return
    axes.plot([row["acc_low"], row["acc_high"]], [height] * 2, color=colour, lw=1.0, zorder=3)
    axes.plot(
        row["acc_mean"], height, marker=MARKERS.get(column.method, "o"), color=colour,
        markersize=4.2, markerfacecolor=colour if column.plus else "white", zorder=4,
    )  # fmt: skip
    if row["n_missing"]:
        axes.annotate(
            f"n={row['n']}", (row["acc_mean"], height), xytext=(5, 0), va="center", fontsize=5.5,
            textcoords="offset points", color=colour,
        )  # fmt: skip


def _printed(axes: Axes, value: float, column: Column, shift: float) -> None:
    """The paper's number: a marker in a row of its own and a thin line down through the rungs."""
    if pd.isna(value):
        return
    colour = COLOURS.get(column.method, "#333333")
    axes.axvline(
        value, color=colour, ls=PLUS_LINE if column.plus else BASE_LINE, lw=0.9, alpha=0.7, zorder=1
    )
    axes.plot(
        value, PAPER_ROW + shift, marker=MARKERS.get(column.method, "o"), color=colour,
        markersize=4.2, markerfacecolor=colour if column.plus else "white", zorder=4,
    )  # fmt: skip


def _names(axes: Axes, ladder: LadderPlan) -> None:
    """The rows' names, read downwards: the paper, the reference, then one switch each."""
    names = ["printed in the paper"]
    for rung in ladder.rungs:
        if rung.switch is None:
            names.append("reference: the authors' code")
        else:
            change = ladder_words.change(rung.switch, rung.before, rung.after)
            end = " (= paper)" if rung is ladder.rungs[-1] else ""
            names.append(f"{ladder_words.switch(rung.switch)}{end}\n{change}")
    axes.set_yticks([PAPER_ROW, *(rung.number for rung in ladder.rungs)], names, fontsize=7)
    for row in (0, 1, -1):
        axes.get_yticklabels()[row].set_fontweight("bold")


def _legend(ladder: LadderPlan) -> list[Line2D]:
    columns = dict.fromkeys((column.method, column.plus, column.label) for column in ladder.columns)
    return [
        Line2D([], [], color=COLOURS.get(method, "#333333"), ls=PLUS_LINE if plus else BASE_LINE,
               marker=MARKERS.get(method, "o"), label=label,
               markerfacecolor=COLOURS.get(method, "#333333") if plus else "white")
        for method, plus, label in columns
    ] + [
        Line2D([], [], color=_DIM, lw=2.6, label="decided effect"),
        Line2D([], [], color=_DIM, lw=0.9, alpha=0.7, label="paper's value"),
    ]  # fmt: skip


def _caption(ladder: LadderPlan) -> str:
    return (
        f"{ladder_words.caption(ladder)} Each row changes one more switch. Dotted and hollow: the "
        "method alone; solid and filled: with SHARC. Bars: 95 % bootstrap interval over seeds. A "
        "thick step: the paired interval of that switch's effect excludes zero; no marker: the "
        "method does not read the switch, and the runs above stand for it. Top row and thin "
        "vertical lines: the paper's printed values."
    )
