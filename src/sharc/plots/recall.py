"""Recall error against the age of a memory: how near to perfect, and for how long."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sharc.plots.canvas import MEMORY_COLOURS, MEMORY_MARKERS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.frames import Results
from sharc.results.layout import Layout

NAME, TITLE = "recall", "Recall error against task age"


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """One panel per theta of the tables; error as a share of leaving zeros in place."""
    frame = results.recall
    thetas = sorted(set(layout.theta.values()) & set(frame["theta"].dropna()))
    frame = frame[frame["theta"].isin(thetas) & (frame["zero_fill_mse"] > 0)]
    frame = frame[frame["variant"] == [labels.variant(m, t) for m, t in _pairs(frame)]]
    frame = _one_dataset(frame, layout)
    if frame.empty:
        yield Omitted(NAME, TITLE, "this suite recalls nothing")
        return
    share = frame.assign(
        share=frame["mse"] / frame["zero_fill_mse"],
        mean_share=frame["mean_fill_mse"] / frame["zero_fill_mse"],
    )
    figure, axes = panels(1, len(thetas), (3.6, 2.8), sharey=True)
    for theta, place in zip(thetas, axes.flat, strict=True):
        _panel(place, share[share["theta"] == theta])
        place.set_title(f"θ = {theta:g}")
    axes[0, 0].set_ylabel("recall error / zero-fill error")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7
    )
    caption = (
        f"Squared error of recalled maps against the number of tasks learned since they were "
        f"stored, as a share of the error of leaving zeros; "
        f"{labels.dataset(share['dataset'].iloc[0])}, mean over methods and seeds. 0 is perfect, "
        "1 is no better than no memory; grey dashes: filling with the class mean."
    )
    yield Drawing(NAME, TITLE, caption, figure)


def _pairs(frame: pd.DataFrame) -> list[tuple[str, float]]:
    return list(zip(frame["memory"], frame["theta"], strict=True))


def _one_dataset(frame: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The data set on which most memories ran: elsewhere there is one memory to show."""
    if frame.empty:
        return frame
    many = frame.groupby("dataset")["memory"].nunique()
    known = [name for name in layout.datasets if name in many.index]
    best = max(known, key=lambda name: int(many[name])) if known else str(many.idxmax())
    return frame[frame["dataset"] == best]


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    for memory, group in frame.groupby("memory", sort=True):
        curve = group.groupby("age")["share"].mean()
        axes.plot(
            curve.index, curve.to_numpy(), label=labels.memory(str(memory)),
            color=MEMORY_COLOURS.get(str(memory), "#333333"),
            marker=MEMORY_MARKERS.get(str(memory), "o"), markevery=max(1, len(curve) // 8),
        )  # fmt: skip
    filled = frame.groupby("age")["mean_share"].mean()
    axes.plot(filled.index, filled.to_numpy(), color="#555555", ls="--", label="mean fill")
    axes.axhline(1, color="#000000", lw=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("task age (tasks learned since)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
