"""Figures of what `sharc.train` returned, for notebooks and scripts."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sharc.experiment import Trained, summary
from sharc.figures.style import panels, styled
from sharc.looks import MARKERS
from sharc.results import labels
from sharc.results.layout import SCENARIOS

# Okabe and Ito's palette, without the yellow that is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def plot_curves(*trained: Trained) -> Figure:
    """Learning curves: mean accuracy on the tasks seen so far, in both scenarios.

    Lines are means over seeds, bands go from the lowest to the highest seed.
    """
    with styled():
        figure, axes = panels(1, 2, (3.6, 2.8))
        for scenario, panel in zip(SCENARIOS, axes.flat, strict=True):
            for index, one in enumerate(trained):
                _curve(panel, one, scenario, index)
            panel.set_title(labels.scenario(scenario))
            panel.set_xlabel("tasks learned")
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0, 0].set_ylabel("accuracy on tasks seen so far (%)")
        _legend(figure, axes[0, 0])
    return figure


def plot_summary(*trained: Trained) -> Figure:
    """Average accuracy after the last task, with its interval over seeds, in both scenarios."""
    frame = summary(*trained)
    with styled():
        figure, axes = panels(1, 2, (3.6, 0.8 + 0.28 * len(trained)))
        for scenario, panel in zip(SCENARIOS, axes.flat, strict=True):
            here = frame[frame["scenario"] == scenario]
            for index, row in enumerate(here.to_dict("records")):
                ends = [row["acc_low"], row["acc_high"]]
                panel.plot(ends, [index] * 2, color=_colour(index))
                panel.plot(row["acc_mean"], index, marker=MARKERS[index % 7], color=_colour(index))
            panel.set_yticks(range(len(here)), [_name(one) for one in trained])
            panel.tick_params(labelleft=scenario == SCENARIOS[0])
            panel.set_ylim(len(here) - 0.5, -0.5)
            panel.set_title(labels.scenario(scenario))
            panel.set_xlabel("ACC (%)")
    return figure


def _curve(axes: Axes, one: Trained, scenario: str, index: int) -> None:
    curves = one.curves
    points = _spread(curves[curves["scenario"] == scenario])
    axes.plot(
        points.index, points["mean"], label=_name(one), color=_colour(index),
        marker=MARKERS[index % 7], markersize=4,
    )  # fmt: skip
    axes.fill_between(
        points.index, points["min"], points["max"], color=_colour(index), alpha=0.15, lw=0
    )


def _spread(curves: pd.DataFrame) -> pd.DataFrame:
    return curves.groupby("task")["accuracy"].agg(["mean", "min", "max"])


def _legend(figure: Figure, axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(4, len(names)))


def _name(one: Trained) -> str:
    label, identity = labels.method(one.name), one.runs[0].identity
    if identity["memory"] is None:
        return label
    return f"{label}{labels.PLUS}, {labels.memory(identity['memory'])}, θ = {identity['theta']:g}"


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]
