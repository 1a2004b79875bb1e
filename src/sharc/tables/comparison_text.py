"""The comparison for readers, with a count of verdicts on top."""

import pandas as pd

from sharc.results import labels
from sharc.results.verdicts import IMPROVES, UNDECIDED, WORSENS, tally
from sharc.tables.comparison import readable
from sharc.tables.long_table import Listing

NOTE = (
    f"Gain: ACC of {labels.PLUS} minus ACC of its base, paired by seed, in points, with a "
    "bootstrap interval over seeds. A direction counts as decided only if the interval excludes "
    "zero. “Paper says” is the sign of the printed means' difference."
)


def listing(frame: pd.DataFrame) -> Listing:
    """Every row of the comparison, its gain leading to the "+" cell."""
    third = {"mini_imagenet", "tiny_imagenet"} & set(frame["dataset"])
    return Listing(
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
        # two of our data sets stand beside the paper's third column: count it once
        column = group["dataset"].map(lambda name: labels.PAPER_COLUMN.get(name, name))
        once = group.assign(dataset=column).drop_duplicates(["dataset", "buffer", "method"])
        printed = once["paper_direction"].value_counts()
        if said := int(printed.get(IMPROVES, 0) + printed.get(WORSENS, 0)):
            line += f"; the paper's printed means rise in {int(printed.get(IMPROVES, 0))} of {said}"
        lines.append(line + ".")
    return " ".join(lines)
