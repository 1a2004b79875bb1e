"""The paper's numbers and ours side by side, with a count of verdicts on top."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from sharc.results import labels
from sharc.results.comparison import GAIN, compare
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.results.verdicts import IMPROVES, UNDECIDED, WORSENS, interval, tally
from sharc.tables.render import Table

NOTE = (
    f"Gain: ACC of {labels.PLUS} minus ACC of its base, paired by seed, in points, with a "
    "bootstrap interval over seeds. A direction counts as decided only if the interval excludes "
    "zero. “Paper says” is the sign of the printed means' difference."
)


def tables(results: Results, layout: Layout, paper: Paper | None) -> Iterator[Table]:
    """Every cell that this suite has, and the printed one."""
    if paper is None:
        return
    yield table(compare(results, layout, paper))


def table(frame: pd.DataFrame) -> Table:
    """Every row of the comparison, its gain leading to the "+" cell."""
    third = {"mini_imagenet", "tiny_imagenet"} & set(frame["dataset"])
    return Table(
        "comparison",
        frame,
        readable(frame),
        counts(frame),
        [NOTE, *([labels.THIRD_COLUMN_NOTE] if third else [])],
        align="llrl" + "r" * 8 + "ll",
        links={"Ours": "cell", f"Ours {labels.PLUS}": "plus_cell", "Our gain [95 %]": "plus_cell"},
        verdict="Our verdict",
    )


def counts(frame: pd.DataFrame) -> str:
    """`Task-IL: of 18 ⁺ cells 12 improve, 1 worsen, 5 undecided; the paper's ...`."""
    lines = []
    for scenario, group in frame.groupby("scenario", sort=False):
        tested = int(group["verdict"].isin([IMPROVES, WORSENS, UNDECIDED]).sum())
        line = f"{labels.scenario(str(scenario))}: of {tested} {labels.PLUS} cells "
        line += tally(group["verdict"])
        # two of our data sets share the paper's third column: count it once
        column = group["dataset"].map(lambda name: labels.PAPER_COLUMN.get(name, name))
        once = group.assign(dataset=column).drop_duplicates(["dataset", "buffer", "method"])
        printed = once["paper_direction"].value_counts()
        if said := int(printed.get(IMPROVES, 0) + printed.get(WORSENS, 0)):
            line += f"; the paper's printed means rise in {int(printed.get(IMPROVES, 0))} of {said}"
        lines.append(line + ".")
    return " ".join(lines)


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The comparison as text, with the heads people read."""
    lines = frame.to_dict("records")
    pick = {
        "Scenario": frame["scenario"].map(labels.scenario),
        "Data set": frame["dataset"].map(labels.dataset),
        "Buffer": frame["buffer"].map(lambda size: "-" if size == 0 else str(size)),
        "Method": frame["method"].map(labels.method),
        "Paper": frame["paper_acc"].map(_plain),
        "Ours": [_ours(line, "") for line in lines],
        "Diff.": frame["difference"].map(_signed),
        f"Paper {labels.PLUS}": frame["paper_plus_acc"].map(_plain),
        f"Ours {labels.PLUS}": [_ours(line, "plus_") for line in lines],
        f"Diff. {labels.PLUS}": frame["plus_difference"].map(_signed),
        "Paper gain": frame["paper_gain"].map(_signed),
        "Our gain [95 %]": [interval(*(line[key] for key in GAIN)) for line in lines],
        "Our verdict": frame["verdict"].fillna("").replace("", "-"),
        "Paper says": frame["paper_direction"].fillna("").replace("", "-"),
    }
    return pd.DataFrame(pick)


def _ours(line: dict[str, Any], kind: str) -> str:
    """`91.20`, with the number of seeds where some are missing; all missing is said."""
    lost = line[f"{kind}n_missing"] > 0
    if lost and not line[f"{kind}n"]:
        return "missing"
    text = _plain(line[f"our_{kind}acc"])
    return f"{text} (n={line[f'{kind}n']:.0f})" if lost else text


def _plain(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else labels.signed(value)
