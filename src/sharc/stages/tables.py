"""Stage tables: results beside the paper's numbers, as LaTeX, Markdown, CSV and HTML."""

from pathlib import Path
from typing import Any


def build(results: Path, paper_csv: Path, out: Path, *, layout: dict[str, Any]) -> None:
    """Write {task_il,class_il}_{main,appendix} and comparison, each as tex, md, csv and html."""
    raise NotImplementedError
