"""Stage collect: run records -> tidy CSV files, one row per run, per curve point, per cell."""

from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import write_json, write_text
from sharc.errors import UserError
from sharc.results import records as run_records
from sharc.results import rows, summary

JOINT_BWT = ("not_applicable", "untrained_reference")


def build(
    records: list[Path], expected: list[dict[str, Any]], out: Path, *, joint_bwt: str
) -> None:
    """Write runs, curves, recall, heads, summary (.csv), provenance.json and metrics.json.

    A run that is expected but missing, failed or diverged stays visible: it has a row without
    numbers in runs.csv and is counted in `n_missing` of summary.csv, never averaged over.
    """
    if joint_bwt not in JOINT_BWT:
        raise UserError(f"joint_bwt is {joint_bwt!r}: legal are {', '.join(JOINT_BWT)}.")
    runs = run_records.load(records, expected)
    tidy = rows.runs(runs, joint_bwt)
    cells = summary.summarise(tidy)
    _write(out / "runs.csv", tidy)
    _write(out / "curves.csv", rows.curves(runs))
    _write(out / "recall.csv", rows.recall(runs))
    _write(out / "heads.csv", rows.heads(runs))
    _write(out / "summary.csv", cells)
    write_json(out / "provenance.json", rows.provenance(runs))
    write_json(out / "metrics.json", summary.metrics(cells))


def _write(path: Path, frame: pd.DataFrame) -> None:
    # Nine digits hide the last bits, in which machines may differ.
    write_text(path, frame.to_csv(index=False, float_format="%.9g", lineterminator="\n"))
