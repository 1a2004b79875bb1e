"""The ladder in words: its switches, what it says in sentences, what a reader must know."""

from typing import Any

import numpy as np
import pandas as pd

from sharc.results import labels
from sharc.results.ladder import decided
from sharc.results.ladder_plan import LadderPlan
from sharc.results.layout import SCENARIOS
from sharc.results.statistics import FEWEST
from sharc.results.verdicts import ARROWS, IMPROVES, WORSENS

ARROW = "\N{RIGHTWARDS ARROW}"
SWITCHES = {
    "read": "how the memory is read",
    "bn_mode": "BatchNorm statistics",
    "normalisation": "input normalisation",
    "budget_count": "what the budget counts",
    "buffer_rule": "which examples are kept",
    "saliency": "which channels are kept",
    "write_scope": "what is written",
    "recall_scope": "what is recalled",
    "recall": "when it is recalled",
    "stored": "what is stored",
    "forget": "when the memory forgets",
    "er_replay": "what ER replays",
    "mer_beta": "MER's β",
    "mer_gamma": "MER's γ",
    "clser_head": "CLS-ER's evaluated head",
}
_VALUES = {
    "read": {"joint_adam": "joint Adam steps", "collapsed": "exact minimum"},
    "bn_mode": {"train": "of each batch, drifting", "eval": "frozen"},
    "normalisation": {
        "dataset": "the data set's",
        "own": "the backbone's",
        "imagenet": "ImageNet's",
    },
    "budget_count": {"nonzero": "non-zero entries", "kept": "kept channels"},
    "buffer_rule": {"batch_prefix": "prefixes of batches", "last": "the last"},
    "saliency": {"relu_ge": "max(α, 0) ≥ Q", "abs_gt": "|α| > Q"},
    "write_scope": {"last_batches": "last batches", "stored": "stored items"},
    "recall_scope": {"last_batches": "last batches", "all": "all stored items"},
    "recall": {"at_store": "when stored", "task_start": "at each task's start"},
    "stored": {"recalled": "recalled dense map", "masked": "kept channels"},
    "forget": {"write": "before every write", "task": "once per task"},
    "er_replay": {"sampled": "a sampled batch", "full": "the whole memory"},
    "clser_head": {"working": "working", "stable": "stable", "plastic": "plastic"},
}


def switch(name: str) -> str:
    """The switch as a short phrase; an unknown one keeps its own name."""
    return SWITCHES.get(name, name)


def value(name: str, setting: Any) -> str:
    """A switch's setting in words; an unknown one, or a number, as it is."""
    text = f"{setting:g}" if isinstance(setting, float) else str(setting)
    return _VALUES.get(name, {}).get(text, text)


def change(name: str, before: Any, after: Any) -> str:
    """`joint Adam steps → exact minimum`."""
    return f"{value(name, before)} {ARROW} {value(name, after)}"


def sentences(frame: pd.DataFrame, ladder: LadderPlan) -> list[str]:
    """Per scenario: how far from the paper at both ends, and which switch moves ACC most."""
    found = []
    for scenario in SCENARIOS:
        here = frame[frame["scenario"] == scenario]
        moved = here[~here["reused"].astype(bool) & here["effect_mean"].notna()]
        said = [_distance(here, ladder)]
        if not moved.empty:
            said += [_largest(moved), _count(moved)]
        if any(said):
            found.append(f"{labels.scenario(scenario)}: {' '.join(filter(None, said))}")
    return found


def _distance(frame: pd.DataFrame, ladder: LadderPlan) -> str:
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


def _largest(moved: pd.DataFrame) -> str:
    size = moved["effect_mean"].abs().groupby(moved["rung"]).mean()
    step = moved[moved["rung"] == size.idxmax()]
    name, before, after = (step.iloc[0][key] for key in ("switch", "before", "after"))
    effects = step["effect_mean"]
    return (
        f"The largest step is {switch(name)} "
        f"({change(name, before, after)}): {labels.signed(effects.mean(), 1)} points "
        f"on average over {len(step)} cells, between {labels.signed(effects.min(), 1)} and "
        f"{labels.signed(effects.max(), 1)}."
    )


def _count(moved: pd.DataFrame) -> str:
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
        "The switches are changed in this order: an effect holds given the switches above it, and "
        "another order could divide the effects differently.",
    ]
    if int(frame["n_missing"].sum()):
        found.append(
            "(n=…): the number of successful runs, where some failed; missing: all failed. "
            "Failed runs are never averaged in."
        )
    if np.isnan(frame["paper_acc"]).all():
        found.append("The paper prints no number for these cells.")
    return found


def caption(ladder: LadderPlan) -> str:
    """What the table and the figure show."""
    methods = " and ".join(dict.fromkeys(labels.method(column.method) for column in ladder.columns))
    return (
        f"ACC in percent of {methods}, alone and with SHARC ({labels.PLUS}), from what the "
        "authors' published code does to what the paper's text says, one switch at a time; "
        f"{ladder.setting}."
    )
