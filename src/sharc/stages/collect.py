"""Stage collect: run records -> tidy CSV files, one row per run, per curve point, per cell."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import write_json, write_text
from sharc.errors import UserError
from sharc.external import collected
from sharc.results import headline, summary, tidy
from sharc.results import records as run_records

JOINT_BWT = ("not_applicable", "untrained_reference")


def build(
    records: list[Path],
    expected: list[dict[str, Any]],
    out: Path,
    *,
    joint_bwt: str,
    external: Mapping[str, str] | None = None,
    sharc: dict[str, Any] | None = None,
) -> None:
    """Write runs, curves, recall, heads, summary (.csv), provenance.json and metrics.json.

    With `sharc`, the memory and thetas of the tables, also what DVC shows: headline.json,
    learning_curves.csv and gains.csv.

    A run that is expected but missing, failed or diverged stays visible: it has a row without
    numbers in runs.csv and is counted in `n_missing` of summary.csv, never averaged over.
    `external` names CSV files of results from elsewhere: external.csv holds them, and nothing else
    counts them in.
    """
    if joint_bwt not in JOINT_BWT:
        raise UserError(f"joint_bwt is {joint_bwt!r}; legal: {', '.join(JOINT_BWT)}.")
    theirs = collected.collect(external or {})
    runs = run_records.load(records, expected)
    table = tidy.runs(runs, joint_bwt)
    cells = summary.summarise(table)
    _write(out / "runs.csv", table)
    curves = tidy.curves(runs)
    _write(out / "curves.csv", curves)
    _write(out / "recall.csv", tidy.recall(runs))
    _write(out / "heads.csv", tidy.heads(runs))
    _write(out / "summary.csv", cells)
    if external:
        _write(out / "external.csv", theirs)
    else:
        (out / "external.csv").unlink(missing_ok=True)
    write_json(out / "provenance.json", tidy.provenance(runs))
    write_json(out / "metrics.json", summary.metrics(cells))
    if sharc:
        shown = headline.shown(cells, sharc["memory"], sharc["theta"])
        write_json(out / "headline.json", headline.headline(shown))
        _write(out / "learning_curves.csv", headline.learning_curves(curves, shown))
        _write(out / "gains.csv", headline.gains(shown))


def _write(path: Path, frame: pd.DataFrame) -> None:
    # Nine digits hide the last bits, in which machines may differ.
    write_text(path, frame.to_csv(index=False, float_format="%.9g", lineterminator="\n"))
