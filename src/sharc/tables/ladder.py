"""The ladder as one table: rungs down, methods across, a block per data set."""

from typing import Any

import numpy as np
import pandas as pd

from sharc.results import labels
from sharc.results.ladder import verdict
from sharc.results.ladder_plan import LadderPlan, PlannedRung
from sharc.results.layout import SCENARIOS
from sharc.results.verdicts import ARROWS, IMPROVES, WORSENS
from sharc.tables import ladder_words
from sharc.tables.render import Table, body

PRINTED = "printed in the paper"
Json = dict[str, Any]


def blocks(frame: pd.DataFrame, ladder: LadderPlan) -> list[Json]:
    """Per data set: heads, and rows of text; plain values for the tables and the report."""
    return [_block(frame[frame["dataset"] == name], ladder, name) for name in ladder.datasets]


def _block(frame: pd.DataFrame, ladder: LadderPlan, dataset: str) -> Json:
    columns = ladder.columns_of(dataset)
    heads = [(scenario, column) for scenario in SCENARIOS for column in columns]
    keys = ["rung", "scenario", "method", "variant"]
    cells = {tuple(row[key] for key in keys): row for row in frame.to_dict("records")}

    def line(rung: PlannedRung) -> list[dict[str, Any]]:
        return [cells[rung.number, scenario, p.method, p.variant] for scenario, p in heads]

    printed = [_paper(cell) for cell in line(ladder.rungs[0])]
    rows = [{"name": PRINTED, "what": "", "cells": printed}]
    for rung in ladder.rungs:
        rows.append(_names(rung, ladder) | {"cells": [_cell(cell) for cell in line(rung)]})
    return {
        "dataset": dataset,
        "title": labels.dataset(dataset),
        "groups": [[labels.scenario(scenario), len(columns)] for scenario in SCENARIOS],
        "heads": [column.label for _, column in heads],
        "rows": rows,
    }


def _names(rung: PlannedRung, ladder: LadderPlan) -> dict[str, str]:
    """The row's key in params.yaml and the same in words; the ends are the two presets."""
    if rung.switch is None:
        return {"name": "reference", "what": "what the authors' code does"}
    setting = f"{rung.before} {ladder_words.ARROW} {rung.after}"
    what = ladder_words.switch(rung.switch)
    if rung is ladder.rungs[-1]:
        what += " (now the preset paper)"
    return {"name": f"{rung.switch}: {setting}", "what": what}


def _paper(row: dict[str, Any]) -> Json:
    text = "–" if np.isnan(row["paper_acc"]) else f"{row['paper_acc']:.2f}"
    return {"text": text, "more": _spread(row["paper_sd"]), **_verdict(""), "reused": False}


def _cell(row: dict[str, Any]) -> Json:
    """The mean, its spread, and a mark if the effect is decided."""
    reused = bool(row["reused"])
    text = f"{'= ' if reused else ''}{row['acc_mean']:.2f}" if row["n"] else "missing"
    more = ["" if reused else _spread(row["acc_sd"])]
    more += [f"(n={row['n']})"] if row["n"] and row["n_missing"] else []
    word = verdict(row)
    shown = word if word in (IMPROVES, WORSENS) else ""
    return {"text": text, "more": _joined(*more), **_verdict(shown), "reused": reused}


def _verdict(word: str) -> dict[str, str]:
    return {"verdict": word, "mark": ARROWS.get(word, "")}


def _spread(sd: float) -> str:
    return "" if np.isnan(sd) else f"± {sd:.2f}"


def _joined(*texts: str) -> str:
    return " ".join(filter(None, texts))


def tables(frame: pd.DataFrame, ladder: LadderPlan) -> list[Table]:
    """One table per data set."""
    caption = ladder_words.caption(ladder)
    return [
        Table(
            f"ladder_{block['dataset']}",
            frame[frame["dataset"] == block["dataset"]],
            _text(block),
            f"{block['title']}. {caption}",
            ladder_words.notes(frame),
            align="ll" + "r" * len(block["heads"]),
        )
        for block in blocks(frame, ladder)
    ]


def _text(block: Json) -> pd.DataFrame:
    columns = [("", "Switch"), ("", "What it decides")]
    scenarios = [name for name, width in block["groups"] for _ in range(width)]
    columns += list(zip(scenarios, block["heads"], strict=True))
    lines = [
        [
            row["name"] if row["name"] == PRINTED else f"`{row['name']}`",
            row["what"],
            *(_joined(cell["text"], cell["more"], cell["mark"]) for cell in row["cells"]),
        ]
        for row in block["rows"]
    ]
    return pd.DataFrame(lines, columns=pd.MultiIndex.from_tuples(columns))


def markdown(frame: pd.DataFrame, ladder: LadderPlan) -> str:
    """What the ladder says in sentences, a table per data set, and how to read them."""
    said = "".join(f"- {sentence}\n" for sentence in ladder_words.sentences(frame, ladder))
    titles = [labels.dataset(name) for name in ladder.datasets]
    parts = "\n".join(
        f"## {title}\n\n{body(table, aligned=True)}"
        for title, table in zip(titles, tables(frame, ladder), strict=True)
    )
    notes = "".join(f"\n{note}\n" for note in ladder_words.notes(frame))
    return f"{ladder_words.caption(ladder)}\n\n{said}\n{parts}{notes}"
