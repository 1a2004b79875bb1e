"""All questions at a glance: the specifications that count for the answer, by gain."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sharc.figures.specification_curve import LOOK, legend, points
from sharc.figures.style import Drawing
from sharc.results import labels
from sharc.results.labels import signed
from sharc.specifications.arms import CONTRASTS
from sharc.specifications.curve import Curve
from sharc.specifications.outcomes import Outcome

NAME, TITLE = "curves", "What remains of the paper's answer under other choices"
ASKED = {
    "gain": "SHARC − without",
    "saliency": "salient − random channels",
    "recall": "recall − zeros",
}
_CAPTION = (
    "Each point is one specification with its 95 % interval over seeds, in order of its difference "
    "in ACC; shown are those of the "
    "random sample that keep both of the paper's ideas."
)


def draw(outcomes: Sequence[Outcome]) -> Drawing:
    """A row per question, a column per scenario."""
    wide, narrow = (_sheet(outcomes, width) for width in (7.2, 3.7))
    return Drawing(NAME, TITLE, _CAPTION, wide, _table(outcomes), narrow=narrow, dense=True)


def _table(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """One row per point, in the order of each curve."""
    columns = ["contrast", "scenario", "specification", "gain", "low", "high", "direction"]
    rows = [
        [o.contrast, o.scenario, p.specification.id, p.gain.mean, p.gain.low, p.gain.high,
         p.gain.direction]
        for o in outcomes
        for p in o.kept.points
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _sheet(outcomes: Sequence[Outcome], width: float) -> Figure:
    asked = [contrast for contrast in CONTRASTS if any(o.contrast == contrast for o in outcomes)]
    scenarios = list(dict.fromkeys(outcome.scenario for outcome in outcomes))
    figure = Figure(figsize=(width, 0.5 + 1.75 * len(asked)))
    sheet = figure.subplots(len(asked), len(scenarios), squeeze=False, sharex="col", sharey="row")
    for outcome in outcomes:
        row, column = asked.index(outcome.contrast), scenarios.index(outcome.scenario)
        axes = sheet[row, column]
        _panel(axes, outcome.kept)
        if row == 0:
            axes.set_title(labels.scenario(outcome.scenario), pad=24)
        if column == 0:
            axes.set_ylabel(f"{ASKED[outcome.contrast]}\n(points of ACC)", fontsize=7)
    figure.legend(handles=legend(), loc="outside lower center", ncols=len(LOOK) + 1, fontsize=7)
    return figure


def _panel(axes: Axes, curve: Curve) -> None:
    points(axes, curve)
    counts = curve.directions
    axes.annotate(
        f"{counts['up']} up, {counts['down']} down of {len(curve.points)}\n"
        f"median {signed(curve.median, 1)}",
        (0, 1), (0, 3), xycoords="axes fraction", textcoords="offset points", fontsize=7,
    )  # fmt: skip
    axes.set_xticks([])
