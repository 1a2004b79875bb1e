"""Stage report: all results in one self-contained HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from sharc.artifacts.files import read_json, write_text
from sharc.report import answer as words
from sharc.report import listed, page, pictures, specified
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.verdicts import NOT_TESTED, VERDICTS
from sharc.tables import comparison
from sharc.tables.registry import OURS
from sharc.tables.registry import tables as made

# The tables of the registry come between these.
FIRST = {
    "tables": "Tables",
    "comparison": "Compared with the paper",
    "figures": "Figures",
    "claims": "The paper's claims",
}
LAST = {
    "specifications": "Under other choices",
    "ladder": "Where the paper's numbers come from",
    "run": "How it was run",
    "deviations": "Deviations",
    "provenance-all": "Provenance",
}
GAINS = "Gains in detail"  # the comparison of a suite whose data sets the paper does not use
SCRIPTS = ("tables.js", "drawer.js", "figures.js")
STYLES = ("style.css", "tables.css", "figures.css", "print.css")


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
    specifications: Path | None = None,
    power: Path | None = None,
    deviations: Sequence[dict[str, str]] = (),
    answer: Sequence[str] = (),
) -> None:
    """Write one HTML file: no request leaves it, and every cell leads to its runs.

    `suite` says what was run (name, backbones, image size, seeds, any key: text); `provenance`
    holds commit, versions, `data`: {dataset: {any key: text}} and `training`: {job: commit};
    `deviations` are this suite's own, shown before those of every suite; `costs` are rows (stage,
    jobs, seconds, cpu_hours, peak_mb); None leaves the table out, so that the file's bytes depend
    on content alone. `ladder` and `specifications` are the folders of those stages (of the latter
    also committed results; `power` is of the suite with more seeds); None leaves a section out.
    `answer` are the sentences of the first screen; without them they are made from specifications,
    gains and claims.
    """
    found, shape = Results(results), Layout.of(layout)
    claims = read_json(claims_json)
    compared = page.read_comparison(tables)
    drawn = pictures.figures(figures)
    across = specified.section(specifications, power) if specifications else None
    extra = {
        "ladder": None if ladder is None else pictures.figures(ladder),
        "specifications": across,
    }
    listings = [listed.shown(one) for one in made(found, shape, which=OURS)]
    content = {
        "suite": {"suite": "", **suite},
        "ran": words.ran(found, shape, suite.get("backbone", "")),
        "answer": list(answer)
        or [*(across["answer"] if across else ()), *words.sentences(found, compared, claims)],
        "lead": pictures.lead(drawn),
        "claims": claims,
        "counts": {verdict: claims["counts"][verdict] for verdict in VERDICTS},
        "not_tested": NOT_TESTED,
        "tables": page.tables(found, shape, compared),
        "printed": page.has_paper(compared),
        "comparison": listed.shown(comparison.table(compared)),
        "listed": listings,
        **extra,
        "figures": drawn,
        "costs": costs,
        "total": _total(costs or []),
        "deviations": [*deviations, *page.deviations()],
        "common": provenance,
        "provenance": Markup(page.provenance(found, provenance)),
        **_missing(found),
    }
    content["titles"] = FIRST | ({} if content["printed"] else {"comparison": GAINS}) | LAST
    sections = [(name, content["titles"][name]) for name in FIRST]
    sections += [(one["name"], one["title"]) for one in listings]
    sections += [(name, title) for name, title in LAST.items() if extra.get(name, True)]
    content["sections"] = sections
    write_text(out, _render(content))


def _render(content: dict[str, Any]) -> str:
    environment = Environment(
        loader=FunctionLoader(page.asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["slug"] = lambda text: str(text).replace(" ", "-")
    # The page's own style and script are ours; everything else is escaped.
    css, js = (Markup("".join(map(page.asset, names))) for names in (STYLES, SCRIPTS))
    return environment.get_template("page.html.j2").render(css=css, js=js, **content)


def _missing(found: Results) -> dict[str, int]:
    planned = found.runs[found.runs["scenario"] == "task_il"]
    return {"planned": len(planned), "missing": int((planned["status"] != "ok").sum())}


def _total(costs: list[dict[str, Any]]) -> dict[str, str]:
    return {
        "hours": f"{sum(row['cpu_hours'] for row in costs):.2f}",
        "minutes": f"{sum(row['seconds'] for row in costs) / 60:.1f}",
        "peak": f"{max((row['peak_mb'] for row in costs), default=0):.0f}",
    }
