"""Sensitivity to theta, the share of channels dropped, in both scenarios."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from sharc.artifacts.runs import DENSE
from sharc.figures.left_out import left_out
from sharc.figures.style import COLOURS, MARKERS, Drawing, Omitted, level_line, panels
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, SWEEP, Layout

NAME, TITLE = "theta", "Sensitivity to the masking threshold θ"
# Section "Masking Threshold Sensitivity Analysis" names these ranges as optimal.
OPTIMUM = {"task_il": (0.8, 0.9), "class_il": (0.3, 0.5)}
DATA = (
    "dataset", "backbone", "method", "buffer", "scenario", "theta",
    "n", "acc_mean", "acc_low", "acc_high",
)  # fmt: skip
KEYS = ["dataset", "backbone", "method", "buffer"]
LAST = 1.0  # where the paper's own sweep ends


def sweep(results: Results, layout: Layout, scenario: str) -> pd.DataFrame:
    """Cells of the sweep: the layout's memory at many thetas, plus the dense cell as theta 0.

    With those whose runs all failed, if enough others are there to be a sweep.
    """
    frame = results.summary
    frame = frame[frame["scenario"] == scenario]
    named = frame["theta"].map(lambda theta: labels.variant(layout.memory, theta))
    swept = frame[(frame["memory"] == layout.memory) & (frame["variant"] == named)]
    measured = swept[swept["n"] > 0].groupby(KEYS)["theta"].transform("nunique")
    swept = swept.merge(swept.loc[measured[measured >= SWEEP].index, KEYS].drop_duplicates())
    dense = frame[frame["variant"] == DENSE].merge(swept[KEYS].drop_duplicates(), on=KEYS)
    return pd.concat([dense.assign(theta=0.0), swept]).sort_values([*KEYS, "theta"])


def draw(results: Results, layout: Layout) -> Iterator[Drawing | Omitted]:
    """Two panels: Task-IL and Class-IL, every swept method with its interval over seeds."""
    planned = {scenario: sweep(results, layout, scenario) for scenario in SCENARIOS}
    swept = {scenario: frame[frame["n"] > 0] for scenario, frame in planned.items()}
    if any(frame.empty for frame in swept.values()):
        yield Omitted(NAME, TITLE, "this suite does not sweep θ")
        return
    figure, axes = panels(1, 2, (3.6, 2.8))
    for (scenario, frame), panel in zip(swept.items(), axes.flat, strict=True):
        _panel(panel, results.summary, frame, scenario)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7
    )
    first = swept["task_il"].iloc[0]
    caption = (
        f"Average accuracy against θ, the share of channels dropped; "
        f"{labels.dataset(first['dataset'])}, buffer {first['buffer']}, "
        f"{labels.memory(layout.memory)}. θ = 0 is the method without SHARC. Bars: interval over "
        "seeds. Shaded: where the paper finds the optimum."
    )
    caption += "".join(edge(frame, scenario) for scenario, frame in swept.items())
    caption += left_out(pd.concat(planned.values()))
    data = pd.concat(swept.values())[list(DATA)]
    yield Drawing(NAME, TITLE, caption, figure, data)


def edge(frame: pd.DataFrame, scenario: str) -> str:
    """A sentence where the best theta is the last one tried: the optimum may lie beyond it."""
    best = frame.sort_values("acc_mean").groupby(["dataset", "method"]).tail(1)
    last = float(frame["theta"].max())
    at_edge = best.loc[best["theta"] == last, "method"]
    if last >= LAST or at_edge.empty:
        return ""
    names = " and ".join(labels.method(name) for name in sorted(at_edge.unique()))
    return (
        f" In {labels.scenario(scenario)} the best θ of {names} is {last:g}, where this suite's "
        f"sweep ends (the paper's ends at {LAST}): the optimum may lie beyond."
    )


def _panel(axes: Axes, summary: pd.DataFrame, frame: pd.DataFrame, scenario: str) -> None:
    axes.axvspan(*OPTIMUM[scenario], color="#F0E442", alpha=0.35, lw=0, label="paper's optimum")
    for (dataset, method), line in frame.groupby(["dataset", "method"], sort=False):
        error = [line["acc_mean"] - line["acc_low"], line["acc_high"] - line["acc_mean"]]
        label = labels.method(str(method))
        if frame["dataset"].nunique() > 1:
            label += f", {labels.dataset(str(dataset))}"
        axes.errorbar(
            line["theta"], line["acc_mean"], yerr=error, label=label, ls="-",
            color=COLOURS.get(str(method)), marker=MARKERS.get(str(method), "o"),
        )  # fmt: skip
    if scenario == "task_il":
        sgd = summary[
            (summary["method"] == "sgd")
            & (summary["scenario"] == scenario)
            & summary["dataset"].isin(frame["dataset"])
        ]
        for value in sgd["acc_mean"].dropna():
            level_line(axes, value, "sgd", "SGD")
    axes.set_title(labels.scenario(scenario))
    axes.set_xlabel("θ (share of channels dropped)")
    axes.set_ylabel("ACC (%)")
