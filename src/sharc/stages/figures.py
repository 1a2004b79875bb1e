"""Stage figures: results -> PNG and PDF in one style, and an index with captions."""

from pathlib import Path
from typing import Any


def build(
    results: Path, paper_csv: Path, figure1: Path | None, out: Path, *, layout: dict[str, Any]
) -> None:
    """Write every figure whose data this suite has, and index.json, which names the others."""
    raise NotImplementedError
