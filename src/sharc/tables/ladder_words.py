"""What a ladder says, in sentences made from its numbers, and what a reader must know."""

from typing import Any

import numpy as np
import pandas as pd

from sharc.results import labels
from sharc.results.layout import SCENARIOS
from sharc.results.statistics import FEWEST, NAN, Estimate
from sharc.results.verdicts import ARROWS, IMPROVES, WORSENS, direction
from sharc.tables import ladder_labels
from sharc.tables.ladder_layout import Ladder


def verdict(row: Any) -> str:
    """improves, worsens or undecided, by the rule of every gain; empty without an effect."""
    mean, low, high = (row[f"effect_{part}"] for part in ("mean", "low", "high"))
    return direction(Estimate(int(row["effect_n"]), mean, NAN, low, high))


def decided(frame: pd.DataFrame) -> list[bool]:
    """Per row, whether its switch decidedly moves ACC."""
    return [verdict(row) in (IMPROVES, WORSENS) for row in frame.to_dict("records")]


def sentences(frame: pd.DataFrame, ladder: Ladder) -> list[str]:
    """Per scenario: how far from the paper at both ends, and which switch moves ACC most."""
    found = []
    for scenario in SCENARIOS:
        here = frame[frame["scenario"] == scenario]
        said = [_distance(here, ladder), _largest(here), _count(here)]
        if any(said):
            found.append(f"{labels.scenario(scenario)}: {' '.join(filter(None, said))}")
    return found


def _distance(frame: pd.DataFrame, ladder: Ladder) -> str:
    gaps = (frame["acc_mean"] - frame["paper_acc"]).abs()
    keys = [frame["dataset"], frame["method"], frame["variant"]]
    ends = [
        gaps[frame["rung"] == rung.number].groupby(keys).mean()
        for rung in (ladder.rungs[0], ladder.rungs[-1])
    ]
    both = pd.concat(ends, axis=1).dropna()  # a cell counts only if both its ends were measured
    if both.empty:
        return ""
    first, last = both.mean()
    return (
        f"the authors' procedure lies {first:.1f} points from the paper's printed ACC, the "
        f"paper's text {last:.1f} (mean distance of {len(both)} cells)."
    )


def _largest(frame: pd.DataFrame) -> str:
    moved = frame[~frame["reused"].astype(bool) & frame["effect_mean"].notna()]
    if moved.empty:
        return ""
    size = moved["effect_mean"].abs().groupby(moved["rung"]).mean()
    step = moved[moved["rung"] == size.idxmax()]
    name, before, after = (step.iloc[0][key] for key in ("switch", "before", "after"))
    effects = step["effect_mean"]
    return (
        f"The largest step is {ladder_labels.switch(name)} "
        f"({ladder_labels.change(name, before, after)}): {labels.signed(effects.mean(), 1)} points "
        f"on average over {len(step)} cells, between {labels.signed(effects.min(), 1)} and "
        f"{labels.signed(effects.max(), 1)}."
    )


def _count(frame: pd.DataFrame) -> str:
    moved = frame[~frame["reused"].astype(bool) & frame["effect_mean"].notna()]
    if moved.empty:
        return ""
    if moved["effect_n"].max() < FEWEST:
        return f"With fewer than {FEWEST} seeds none of the {len(moved)} effects is decided."
    return (
        f"{sum(decided(moved))} of {len(moved)} effects have a paired interval over seeds "
        "that excludes zero."
    )


def notes(frame: pd.DataFrame) -> list[str]:
    """How to read the table."""
    found = [
        f"{ARROWS[IMPROVES]} or {ARROWS[WORSENS]}: ACC rises or falls against the row above, "
        "paired by seed, and the 95 % bootstrap interval of the difference excludes zero. "
        "“= …”: the cell does not read this switch, so the runs above stand for it.",
        "The switches are made in this order: an effect holds given the switches above it, and "
        "another order could share the effects out differently.",
    ]
    if int(frame["n_missing"].sum()):
        found.append(
            "(n=…): only so many of the planned runs ended well; missing: none did. "
            "Such runs are never averaged over."
        )
    if np.isnan(frame["paper_acc"]).all():
        found.append("The paper prints no number for these cells.")
    return found


def caption(ladder: Ladder) -> str:
    """What the table and the figure show."""
    methods = " and ".join(dict.fromkeys(labels.method(place.method) for place in ladder.places))
    return (
        f"ACC in percent of {methods}, alone and with SHARC ({labels.PLUS}), from what the "
        "authors' published code does to what the paper's text says, one switch at a time; "
        f"{ladder.setting}."
    )
