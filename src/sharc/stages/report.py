"""Stage report: everything for a reader in one self-contained HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from sharc.artifacts.files import read_json, write_text
from sharc.report import listed, page
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.verdicts import VERDICTS
from sharc.tables import comparison_text
from sharc.tables.extra import listings

SECTIONS = {
    "run": "What was run",
    "claims": "Claims",
    "tables": "Tables",
    "comparison": "Beside the paper",
    "ledger": "What is held",
    "clser_heads": "CLS-ER's heads",
    "ladder": "Where the paper's numbers come from",
    "figures": "Figures",
    "cost": "Cost",
    "deviations": "Deviations",
    "provenance-all": "Provenance",
}


def build(  # noqa: PLR0913 - the report reads every artifact made for people
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
    ladder: Path | None = None,
    deviations: Sequence[dict[str, str]] = (),
) -> None:
    """Write one HTML file: no request leaves it, and every cell leads to its runs.

    `suite` is shown under "what was run" (name, backbones, image size, seeds, any key: text);
    `provenance` holds commit, versions, `data`: {dataset: {any key: text}} and `training`:
    {unit: commit}; `deviations` are this suite's own, shown before those of every suite;
    `costs` are rows (stage, units, seconds, cpu_hours, peak_mb); None leaves the section out, so
    that the file's bytes depend on content alone. `ladder` is the folder of stage ladder; None
    leaves its section out.
    """
    found, shape = Results(results), Layout.of(layout)
    claims = read_json(claims_json)
    compared = page.read_comparison(tables)
    extra: dict[str, Any] = {"ledger": None, "clser_heads": None}
    extra |= {one.name: listed.shown(one) for one in listings(found, shape)}
    content = {
        "suite": {"suite": "", **suite},
        "claims": claims,
        "counts": {verdict: claims["counts"][verdict] for verdict in VERDICTS},
        "tables": page.tables(found, shape, compared),
        "comparison": listed.shown(comparison_text.listing(compared)),
        **extra,
        "figures": page.figures(figures),
        "ladder": None if ladder is None else page.figures(ladder),
        "costs": costs,
        "total": _total(costs or []),
        "deviations": [*deviations, *page.deviations()],
        "common": provenance,
        "provenance": Markup(page.provenance(found, provenance)),
        **_missing(found),
    }
    parts = {"cost": costs, "ladder": ladder, **extra}
    absent = {name for name, part in parts.items() if not part}
    content["sections"] = [item for item in SECTIONS.items() if item[0] not in absent]
    write_text(out, _render(content))


def _render(content: dict[str, Any]) -> str:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["slug"] = lambda text: str(text).replace(" ", "-")
    template = environment.from_string(page.asset("template.html.j2"))
    # The page's own style and script are ours; everything else is escaped.
    css, js = (Markup(page.asset(name)) for name in ("style.css", "script.js"))
    return template.render(css=css, js=js, **content)


def _missing(found: Results) -> dict[str, int]:
    planned = found.runs[found.runs["scenario"] == "task_il"]
    return {"planned": len(planned), "missing": int((planned["status"] != "ok").sum())}


def _total(costs: list[dict[str, Any]]) -> dict[str, str]:
    return {
        "hours": f"{sum(row['cpu_hours'] for row in costs):.2f}",
        "minutes": f"{sum(row['seconds'] for row in costs) / 60:.1f}",
        "peak": f"{max((row['peak_mb'] for row in costs), default=0):.0f}",
    }
