"""What the report shows, as plain values for its template."""

import json
import math
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from sharc.results import labels
from sharc.results.cells import Cell, Grid, grids
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.tidy import cell_name
from sharc.results.verdicts import ARROWS
from sharc.tables.main import caption, notes

Json = dict[str, Any]


def asset(name: str) -> str:
    """A text file that ships with this package."""
    return resources.files("sharc.report").joinpath(name).read_text(encoding="utf-8")


def read_comparison(tables: Path) -> pd.DataFrame:
    """comparison.csv with its empty words kept empty."""
    words = ["verdict", "paper_direction", "agreement", "cell", "plus_cell"]
    frame = pd.read_csv(tables / "comparison.csv", keep_default_na=False, na_values=[""])
    return frame.astype(dict.fromkeys(words, object)).fillna(dict.fromkeys(words, ""))


def has_paper(comparison: pd.DataFrame) -> bool:
    """Whether the paper has a number for any cell of this suite."""
    return bool(comparison[["paper_acc", "paper_plus_acc"]].notna().to_numpy().any())


def printed(comparison: pd.DataFrame) -> dict[tuple[str, str], dict[str, float]]:
    """(scenario, our cell's name) -> the paper's ACC and BWT, where it has them."""
    found = {}
    for row in comparison.to_dict("records"):
        for cell, kind in (("cell", ""), ("plus_cell", "plus_")):
            if row[cell] and not math.isnan(row[f"paper_{kind}acc"]):
                numbers = {m: row[f"paper_{kind}{m}"] for m in ("acc", "bwt")}
                found[row["scenario"], row[cell]] = numbers
    return found


def tables(results: Results, layout: Layout, comparison: pd.DataFrame) -> list[Json]:
    """The paper-style tables with the paper's number under each of ours."""
    paper = printed(comparison)
    return [_table(grid, paper, notes(grid, results)) for grid in grids(results, layout)]


def _table(found: Grid, paper: dict[tuple[str, str], dict[str, float]], said: list[str]) -> Json:
    rows = [
        {
            "buffer": row.buffer,
            "label": row.label,
            "plus": row.shaded,
            "external": bool(row.source),
            "values": [
                _value(cell, metric, paper.get((found.scenario, cell.name)))
                for cell in cells
                for metric in ("acc", "bwt")
            ],
        }
        for row, cells in found.rows
    ]
    sizes = sorted({row.buffer for row, _ in found.rows if row.buffer})
    return {
        "name": found.name,
        "title": f"{labels.scenario(found.scenario)}, {_buffers(sizes)}",
        "caption": caption(found),
        "datasets": [labels.dataset(name) for name in found.datasets],
        "rows": rows,
        "notes": said,
    }


def _buffers(sizes: list[int]) -> str:
    """`buffer 50`, `buffers 50 and 200`; nothing is said of a suite without any."""
    many = "s" if len(sizes) > 1 else ""
    return f"buffer{many} {labels.listed(map(str, sizes))}" if sizes else "no buffer"


def _value(cell: Cell, metric: str, paper: dict[str, float] | None) -> Json:
    mean = getattr(cell, metric).mean
    verdict = cell.verdict if metric == "acc" else ""
    number = math.nan if paper is None else paper[metric]
    # JOINT's printed BWT is not a backward transfer: we have nothing to compare it with.
    shown = not math.isnan(number) and cell.text(metric) != "n/a"
    return {
        "cell": cell.name,
        "text": cell.text(metric).replace("-", labels.MINUS) if cell.name or cell.source else "–",
        "sort": "" if math.isnan(mean) else f"{mean:.6f}",
        "verdict": verdict,
        "arrow": ARROWS.get(verdict, ""),
        "paper": f"{number:.2f}".replace("-", labels.MINUS) if shown else "",
    }


def provenance(results: Results, common: Json) -> str:
    """JSON for the drawer: every cell with its runs, and what all cells share."""
    cells = results.provenance
    scores: dict[tuple[str, int], Json] = {}
    for row in results.runs.to_dict("records"):
        seed = scores.setdefault((cell_name(row), int(row["seed"])), {})
        seed[row["scenario"]] = {
            metric: None if math.isnan(row[metric]) else round(row[metric], 4)
            for metric in ("acc", "bwt")
        }
    made_by = common.get("training", {})
    for name, cell in cells.items():
        cell["commit"] = made_by.get(_unit_of(name), common.get("commit"))
        for run in cell["runs"]:
            run["scores"] = scores.get((name, run["seed"]), {})
    text = json.dumps({"cells": cells, "common": common}, sort_keys=True, default=str)
    return text.replace("</", "<\\/")  # a script element ends at the first closing tag


def _unit_of(cell: str) -> str:
    """The training job of a cell: all its buffers, and all thetas of one memory."""
    dataset, backbone, method, variant, _ = cell.split("/")
    return "/".join((dataset, backbone, method, variant.partition("-t")[0]))


def deviations() -> list[dict[str, str]]:
    """Where the paper leaves a choice open or contradicts itself, and what we do."""
    return list(yaml.safe_load(asset("deviations.yaml")))
