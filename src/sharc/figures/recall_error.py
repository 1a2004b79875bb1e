"""Recall error against the age of a memory: how near to perfect, and for how long."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sharc.figures.left_out import left_out
from sharc.figures.style import MEMORY_COLOURS, MEMORY_MARKERS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import Layout

NAME, TITLE = "recall", "Recall error against task age"
CELL = ["dataset", "backbone", "method", "buffer"]
# buffers/recall_error.py: the mean of each channel over positions and the examples of one class
# that were stored together, measured on the whole maps at that moment; no later task changes it.
MEAN_FILL = "channel means of the class"


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """One panel per theta of the tables; error relative to filling in zeros."""
    frame = results.recall
    frame = frame[frame["theta"].isin(layout.theta.values()) & (frame["zero_fill_mse"] > 0)]
    frame = frame[frame["variant"] == [labels.variant(m, t) for m, t in _pairs(frame)]]
    if frame.empty:
        yield Omitted(NAME, TITLE, "this suite recalls nothing")
        return
    share = _one_dataset(frame, layout).assign(
        share=lambda x: x["mse"] / x["zero_fill_mse"],
        mean_share=lambda x: x["mean_fill_mse"] / x["zero_fill_mse"],
    )
    shown = {float(theta): shared(group) for theta, group in share.groupby("theta")}
    figure, axes = panels(1, len(shown), (3.6, 2.8), sharey=True)
    for (theta, group), panel in zip(shown.items(), axes.flat, strict=True):
        _panel(panel, group)
        one = len(group[CELL].drop_duplicates()) == 1  # more do not fit above a panel
        panel.set_title(f"θ = {theta:g}" + (f": {cells(group)}" if one else ""))
    axes[0, 0].set_ylim(bottom=0)  # once all panels are drawn: it ends the shared axis' scaling
    axes[0, 0].set_ylabel("recall error / zero-fill error")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7
    )
    lost = left_out(_planned(results, layout, shown))
    yield Drawing(NAME, TITLE, _caption(shown) + lost, figure, _data(shown))


def _planned(results: Results, layout: Layout, shown: dict[float, pd.DataFrame]) -> pd.DataFrame:
    """The "+" cells of the tables' thetas on the data set that is shown."""
    summary = results.summary
    (dataset,) = {str(group["dataset"].iloc[0]) for group in shown.values()}
    return summary[(summary["dataset"] == dataset) & summary["theta"].isin(layout.theta.values())]


def _data(shown: dict[float, pd.DataFrame]) -> pd.DataFrame:
    """The points of every panel's curves."""
    keys = ["dataset", "theta", "memory", "age"]
    points = pd.concat(shown.values()).groupby(keys, as_index=False)
    return points[["share", "mean_share"]].mean()


def _caption(shown: dict[float, pd.DataFrame]) -> str:
    dataset = next(iter(shown.values()))["dataset"].iloc[0]
    where = "; ".join(f"θ = {theta:g}: {cells(group)}" for theta, group in shown.items())
    return (
        "Squared error of recalled maps against the number of tasks learned since they were "
        f"stored, as a share of the error of leaving zeros; {labels.dataset(dataset)}, mean over "
        f"seeds and tasks of the cells that all memories of a panel share ({where}). 0 is perfect, "
        f"1 is no better than no memory. Grey dashes: filling with the {MEAN_FILL}, one number per "
        "channel, exact and never forgotten."
    )


def _pairs(frame: pd.DataFrame) -> list[tuple[str, float]]:
    return list(zip(frame["memory"], frame["theta"], strict=True))


def _one_dataset(frame: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The data set on which most memories ran: elsewhere there is one memory to show."""
    many = frame.groupby("dataset")["memory"].nunique()
    known = [name for name in layout.datasets if name in many.index]
    best = max(known, key=lambda name: int(many[name])) if known else str(many.idxmax())
    return frame[frame["dataset"] == best]


def shared(frame: pd.DataFrame) -> pd.DataFrame:
    """The most memories that one cell has, in every cell that has them all.

    An average over other methods and buffers would compare the cells, not the memories.
    """
    sets = frame.groupby(CELL)["memory"].agg(frozenset)
    most = max(sets, key=len)
    alike = sets.index[[names >= most for names in sets]]
    there = pd.MultiIndex.from_frame(frame[CELL]).isin(alike)
    return frame[there & frame["memory"].isin(most)]


def cells(frame: pd.DataFrame) -> str:
    """`GEM, buffer 200`: the methods and buffers behind a panel."""
    methods = ", ".join(labels.method(name) for name in frame["method"].unique())
    buffers = ", ".join(str(size) for size in sorted(frame["buffer"].unique()))
    return f"{methods}, buffer {buffers}"


def _panel(axes: Axes, frame: pd.DataFrame) -> None:
    for memory, group in frame.groupby("memory", sort=True):
        curve = group.groupby("age")["share"].mean()
        axes.plot(
            curve.index, curve.to_numpy(), label=labels.memory(str(memory)),
            color=MEMORY_COLOURS.get(str(memory), "#333333"),
            marker=MEMORY_MARKERS.get(str(memory), "o"), markevery=max(1, len(curve) // 8),
        )  # fmt: skip
    filled = frame.groupby("age")["mean_share"].mean()
    axes.plot(filled.index, filled.to_numpy(), color="#555555", ls="--", label=MEAN_FILL)
    axes.axhline(1, color="#000000", lw=0.8)
    axes.set_xlabel("task age (tasks learned since)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
