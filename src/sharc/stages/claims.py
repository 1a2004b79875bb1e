"""Stage claims: the paper's checkable sentences -> verdicts, as JSON and Markdown."""

from pathlib import Path
from typing import Any


def build(
    results: Path,
    claims_yaml: Path,
    paper_csv: Path,
    figure1: Path | None,
    out_json: Path,
    out_md: Path,
    *,
    layout: dict[str, Any],
) -> None:
    """Evaluate every entry of `claims_yaml` on our runs and on the paper's own numbers."""
    raise NotImplementedError
