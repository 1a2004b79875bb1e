"""Associative memories compared: in the paper's figure GEM in Class-IL and ER in Task-IL."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from sharc.artifacts.runs import DENSE
from sharc.figures.left_out import left_out
from sharc.figures.style import COLOURS, MEMORY_COLOURS, MEMORY_MARKERS, Drawing, Omitted, panels
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import Layout

NAME, TITLE = "memories", "Associative memories compared"
DATA = (
    "dataset", "scenario", "method", "buffer", "memory", "theta",
    "n", "acc_mean", "acc_low", "acc_high",
)  # fmt: skip
TALL = 8  # memories, for which the legend's place was chosen


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """A panel per method: each memory's ACC with its interval, the dense method as a line."""
    asked = sorted((scenario, method) for method, scenario in layout.compared.items())
    planned = [(panel, group) for panel in asked for group in _groups(results, layout, *panel)]
    found = [(panel, group[group["n"] > 0]) for panel, group in planned]
    if not found:
        yield Omitted(NAME, TITLE, "this suite runs one associative memory only")
        return
    tallest = max(len(group) for _, group in found)
    figure, axes = panels(1, len(found), (3.6, _inches(tallest)))
    for ((scenario, method), group), panel in zip(found, axes.flat, strict=True):
        _panel(panel, results.summary, group, scenario, method)
        if panel.get_legend_handles_labels()[0]:
            below = (0.5, -0.2 * _inches(TALL) / _inches(tallest))
            panel.legend(loc="upper center", bbox_to_anchor=below, ncols=2, fontsize=7)
        panel.set_title(
            f"{labels.method(method)}{labels.PLUS}, {labels.scenario(scenario)}, "
            f"θ = {layout.theta[scenario]:g}"
        )
    datasets = sorted({labels.dataset(group["dataset"].iloc[0]) for _, group in found})
    buffers = sorted({int(group["buffer"].iloc[0]) for _, group in found})
    caption = (
        f"Average accuracy with different associative memories, {', '.join(datasets)}, buffer "
        f"{', '.join(map(str, buffers))}. Bars: interval over seeds. Dotted: the same method "
        "storing whole maps; dashed: SGD without any buffer. “none” leaves dropped channels at "
        "zero, “oracle” recalls perfectly, which need not be best: what is recalled is also what "
        "is trained on. “pooled storage” masks nothing: it spends as many numbers on pooled "
        "vectors, all that the head ever sees of a map, and needs no memory."
    )
    caption += left_out(pd.concat([group for _, group in planned]))
    data = pd.concat([group for _, group in found])[list(DATA)]
    yield Drawing(NAME, TITLE, caption, figure, data)


def _inches(memories: int) -> float:
    return 0.9 + 0.3 * memories


def _groups(results: Results, layout: Layout, scenario: str, method: str) -> Iterator[pd.DataFrame]:
    """Planned cells that differ only in their memory, at the scenario's theta; one data set each.

    Pooled storage masks nothing, so its only theta is 0.
    """
    frame = results.summary
    theta = layout.theta[scenario]
    frame = frame[(frame["scenario"] == scenario) & (frame["method"] == method)]
    asked = frame["memory"].map(lambda name: labels.variant(name, 0 if name == "pooled" else theta))
    alike = frame[frame["variant"] == asked]
    for _, group in alike.groupby(["dataset", "backbone", "buffer"], sort=False):
        if group["memory"].nunique() > 1 and group["n"].any():
            yield group.sort_values("acc_mean")


def _panel(
    axes: Axes, summary: pd.DataFrame, group: pd.DataFrame, scenario: str, method: str
) -> None:
    for height, row in enumerate(group.to_dict("records")):
        error = [[row["acc_mean"] - row["acc_low"]], [row["acc_high"] - row["acc_mean"]]]
        axes.errorbar(
            row["acc_mean"], height, xerr=error, markersize=6,
            fmt=MEMORY_MARKERS.get(row["memory"], "o"),
            color=MEMORY_COLOURS.get(row["memory"], "#333333"),
        )  # fmt: skip
    first = group.iloc[0]
    same = (summary["dataset"] == first["dataset"]) & (summary["scenario"] == scenario)
    here = summary[same & (summary["backbone"] == first["backbone"])]
    dense = here[
        (here["method"] == method)
        & (here["buffer"] == first["buffer"])
        & (here["variant"] == DENSE)
    ]
    sgd = here[here["method"] == "sgd"] if scenario == "task_il" else here.iloc[:0]
    for reference, line, name in ((dense, ":", labels.method(method)), (sgd, "--", "SGD")):
        for value in reference["acc_mean"].dropna():
            colour = COLOURS["sgd"] if name == "SGD" else COLOURS.get(method, "#333333")
            axes.axvline(value, ls=line, color=colour, label=f"{name} {value:.1f}")
    axes.set_yticks(range(len(group)), [labels.memory(name) for name in group["memory"]])
    axes.set_xlabel("ACC (%)")
    axes.margins(y=0.15)
