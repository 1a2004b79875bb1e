"""The committed results, as the pages' tests read them."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

from sharc.results import labels

ROOT = Path(__file__).parents[2]
OFFLINE = ROOT / "results/offline"
Row = dict[str, str]


def page(name: str) -> str:
    """A page's text on one line, so that it may be wrapped anywhere."""
    return " ".join((ROOT / name).read_text().split())


def rows(name: str) -> list[Row]:
    """A table of the suite `offline`."""
    return list(csv.DictReader((OFFLINE / name).read_text().splitlines()))


def made(suite: str) -> dict[str, Any]:
    """What a suite took."""
    return json.loads((ROOT / f"results/{suite}/made.json").read_text())


def verdicts() -> Counter[tuple[str, str]]:
    """How many cells of each data set improve, worsen or are undecided."""
    cells = [row for row in rows("comparison.csv") if row["plus_cell"]]
    return Counter((row["dataset"], row["verdict"]) for row in cells)


def claims() -> Counter[str]:
    """How many sentences have each verdict."""
    found = json.loads((OFFLINE / "claims.json").read_text())["claims"]
    return Counter(claim["verdict"] for claim in found)


def acc(method: str, scenario: str, variant: str = "dense", field: str = "acc_mean") -> float:
    """A mean over seeds on CIFAR-100 at buffer 200."""
    [row] = [
        row
        for row in rows("summary.csv")
        if (row["dataset"], row["method"], row["scenario"], row["variant"])
        == ("cifar100", method, scenario, variant)
        and row["buffer"] in ("0", "200")
    ]
    return float(row[field])


def table() -> str:
    """ACC at buffer 200 without and with SHARC, the paper's next to ours."""
    shown = [row for row in rows("comparison.csv") if row["buffer"] in ("0", "200")]
    found = {(row["scenario"], row["method"], row["dataset"]): row for row in shown}
    datasets = list(dict.fromkeys(row["dataset"] for row in shown))
    head = [f"{labels.dataset(name)}, {whose}" for name in datasets for whose in ("paper", "ours")]
    lines = [["", "", *head], ["---"] * (2 + len(head))]
    for scenario, method in dict.fromkeys((row["scenario"], row["method"]) for row in shown):
        cells = [_pairs(found[scenario, method, dataset]) for dataset in datasets]
        names = [labels.scenario(scenario), labels.method(method)]
        lines.append(names + [cell for pair in cells for cell in pair])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _pairs(row: Row) -> tuple[str, str]:
    """`29.35 → 33.94` twice, ours with a mark where its interval excludes no change."""
    marks = {"improves": " ▲", "worsens": " ▼"}
    whose = (("paper_acc", "paper_plus_acc"), ("our_acc", "our_plus_acc"))
    paper, ours = (
        " → ".join(f"{float(row[name]):.2f}" for name in pair if row[name]) for pair in whose
    )
    return paper or "-", ours + marks.get(row["verdict"], "")
