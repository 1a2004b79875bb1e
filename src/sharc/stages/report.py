"""Stage report: everything for a reader in one self-contained HTML file."""

from pathlib import Path
from typing import Any


def build(
    results: Path,
    tables: Path,
    figures: Path,
    claims_json: Path,
    out: Path,
    *,
    layout: dict[str, Any],
    suite: dict[str, Any],
    provenance: dict[str, Any],
    costs: list[dict[str, Any]] | None = None,
) -> None:
    """Write one HTML file: no request leaves it, and every cell leads to its runs.

    `suite` is shown under "what was run" (name, backbones, image size, seeds, any key: text);
    `provenance` holds commit, params digest, versions and `data`: {dataset: {any key: text}};
    `costs` are rows (stage, units, seconds, cpu_hours, peak_mb); None leaves the section out, so
    that the file's bytes depend on content alone.
    """
    raise NotImplementedError
