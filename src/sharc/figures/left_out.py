"""The planned cells that a figure cannot show, for its caption: no run of theirs succeeded."""

from typing import Any

import pandas as pd

from sharc.artifacts.runs import DENSE
from sharc.results import labels
from sharc.results.layout import Layout

MOST = 6  # names that a caption can hold


def left_out(cells: pd.DataFrame) -> str:
    """A sentence that names the cells of `cells` without a run; empty if each has one.

    `cells` are the lines of summary.csv that the figure would show.
    """
    lost = cells[(cells["n"] == 0) & (cells["n_missing"] > 0)]
    names = list(dict.fromkeys(_name(cell) for cell in lost.to_dict("records")))
    if not names:
        return ""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f" Left out, because all their runs failed: {'; '.join(names[:MOST])}{more}."


def tabled(summary: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """The lines of summary.csv that the tables show, bases and "+" alike."""
    variants = {
        (scenario, layout.variant(scenario, plus=plus))
        for scenario in layout.theta
        for plus in (False, True)
    }
    there = pd.MultiIndex.from_frame(summary[["scenario", "variant"]]).isin(list(variants))
    known = summary["dataset"].isin(layout.datasets) & summary["method"].isin(layout.methods)
    return summary[there & known & summary["buffer"].isin([0, *layout.buffers])]


def _name(cell: dict[str, Any]) -> str:
    """`ER⁺ (BayesPCN, θ = 0.8) on S-CIFAR-10, buffer 200`."""
    text = labels.method(cell["method"])
    if cell["variant"] != DENSE:
        text += f"{labels.PLUS} ({labels.memory(cell['memory'])}, θ = {cell['theta']:g})"
    text += f" on {labels.dataset(cell['dataset'])}"
    return text + (f", buffer {cell['buffer']}" if cell["buffer"] else "")
