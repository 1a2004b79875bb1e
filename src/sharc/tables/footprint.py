"""The ledger as a table: total memory held, and the gain at equal bytes."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from sharc.results import labels
from sharc.results.comparison import GAIN
from sharc.results.equal_bytes import SLACK
from sharc.results.folder import Results
from sharc.results.footprint import SIZES, ledger
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.results.verdicts import interval, tally
from sharc.tables.render import Table

HEADS = {"items": "Samples", "counted_floats": "Values", "total_bytes": "MB"}
EQUAL, GAIN_OVER, VERDICT = "Equal base", "Gain over it [95 %]", "Our verdict"
NOTES = [
    "Samples: stored samples. Values: what the paper counts, the kept values, in millions of "
    "numbers. MB: everything held except the head being trained (values, indices, labels, "
    "logits, the associative memory's weights and their prior, further heads), in million bytes. "
    f"In all, per sample: the bytes of {labels.PLUS} divided by its base's, in total and per "
    "stored sample, associative memory included.",
    f"Equal base: the buffer of the base whose total bytes are nearest to those of {labels.PLUS}; "
    f"none: no base with successful runs comes within {100 * SLACK:g} %. Gain over it: "
    "ACC in points, paired by seed, with a bootstrap interval over seeds; (n=…) if runs are "
    "missing.",
]


def tables(results: Results, layout: Layout, _: Paper | None) -> Iterator[Table]:
    """The ledger; nothing for a suite without a buffer."""
    frame = ledger(results, layout)
    if frame.empty:
        return
    kinds = {"": "", "plus_": f" {labels.PLUS}"}
    links = {
        HEADS[size] + mark: f"{kind}cell" for size in SIZES for kind, mark in kinds.items()
    } | {EQUAL: "equal_cell", GAIN_OVER: "plus_cell"}
    yield Table(
        "ledger", frame, readable(frame), summary(frame), NOTES,
        align="llrl" + "r" * 10 + "l", links=links, verdict=VERDICT,
        title="Memory held", folded=True,
    )  # fmt: skip


def summary(frame: pd.DataFrame) -> str:
    """`Task-IL: with SHARC (⁺) a method holds 1.52 to 3.59 times ...`, per scenario."""
    return " ".join(
        f"{labels.scenario(str(scenario))}: {_said(group)}"
        for scenario, group in frame.groupby("scenario", sort=False)
    )


def _said(group: pd.DataFrame) -> str:
    known = group.dropna(subset=["bytes_ratio"])
    if known.empty:
        return f"no {labels.PLUS} cell has successful runs both of its own and of its base."
    in_all, each = (
        f"{known[name].min():.2f} to {known[name].max():.2f}"
        for name in ("bytes_ratio", "sample_ratio")
    )
    equal = group[group["gain_n"] > 0]
    matched = "none" if equal.empty else f"{len(equal)}"
    counted = "" if equal.empty else f": {tally(equal['verdict'])}"
    return (
        f"with SHARC ({labels.PLUS}) a method holds {in_all} times as many bytes as its base in "
        f"total, {each} times as many per stored sample. Of {len(known)} {labels.PLUS} cells, "
        f"{matched} can be compared with a base that holds as many bytes{counted}."
    )


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The ledger as text, with the heads people read."""
    return pd.DataFrame([_texts(line) for line in frame.to_dict("records")])


def _texts(line: dict[str, Any]) -> dict[str, str]:
    lost, plus_lost = ("missing" if line[name] else "-" for name in ("cell", "plus_cell"))
    either = "-" if "-" in (lost, plus_lost) else "missing"
    sizes = {
        HEADS[size] + mark: _size(line[f"{kind}{size}"], size, instead)
        for size in SIZES
        for kind, mark, instead in (("", "", lost), ("plus_", f" {labels.PLUS}", plus_lost))
    }
    return {
        "Scenario": labels.scenario(line["scenario"]),
        "Data set": labels.dataset(line["dataset"]),
        "Buffer": str(line["buffer"]),
        "Method": labels.method(line["method"]),
        **sizes,
        "In all": _fixed(line["bytes_ratio"], 2, either),
        "Per sample": _fixed(line["sample_ratio"], 2, either),
        **_equal(line, plus_lost),
    }


def _size(value: float, size: str, instead: str) -> str:
    millions, digits = {"items": (1, 0), "counted_floats": (1e6, 3), "total_bytes": (1e6, 2)}[size]
    return _fixed(value / millions, digits, instead)


def _fixed(value: float, digits: int, instead: str) -> str:
    return instead if math.isnan(value) else f"{value:.{digits}f}"


def _equal(line: dict[str, Any], plus_lost: str) -> dict[str, str]:
    if math.isnan(line["equal_buffer"]):
        found = plus_lost if math.isnan(line["plus_total_bytes"]) else "none"
        return {EQUAL: found, GAIN_OVER: "-", VERDICT: "-"}
    gain = interval(*(line[key] for key in GAIN)) if line["gain_n"] else "missing"
    if line["gain_n"] and line["gain_n_missing"]:
        gain += f" (n={line['gain_n']:.0f})"
    return {EQUAL: f"{line['equal_buffer']:.0f}", GAIN_OVER: gain, VERDICT: line["verdict"] or "-"}
