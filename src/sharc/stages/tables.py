"""Stage tables: results beside the paper's numbers, as LaTeX, Markdown, CSV and HTML."""

from pathlib import Path
from types import ModuleType
from typing import Any

from sharc.artifacts.files import write_text
from sharc.results import comparison, comparison_markup, listing, markup
from sharc.results.frames import Results
from sharc.results.layout import GROUPS, SCENARIOS, Layout
from sharc.results.listing import Listing
from sharc.results.listings import listings
from sharc.results.paper import Paper
from sharc.results.tables import Table, table

_FORMS = {"tex": "latex", "md": "markdown", "csv": "csv", "html": "html"}
_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=1.6cm]{geometry}
\usepackage{booktabs,longtable,amssymb}
\usepackage[table]{xcolor}
\begin{document}
%s\end{document}
"""


def build(results: Path, paper_csv: Path, out: Path, *, layout: dict[str, Any]) -> None:
    """Write {task_il,class_il}_{main,appendix} and the listings, each as tex, md, csv and html.

    A group without buffers (no appendix in a small suite) has no table, nor has a listing without
    rows. all.tex is a document that shows them all with a stock article class.
    """
    shape, found = Layout.of(layout), Results(results)
    inputs = ""
    for scenario in SCENARIOS:
        for group in GROUPS:
            if buffers := getattr(shape, group):
                made = table(found, shape, scenario, group, buffers)
                _write(out, made, markup)
                inputs += f"\\input{{{made.name}}}\n"
    frame = comparison.compare(found, shape, Paper(paper_csv))
    for rows in (comparison_markup.listing(frame), *listings(found, shape)):
        _write(out, rows, listing)
        inputs += f"\\clearpage\n\\input{{{rows.name}}}\n"
    write_text(out / "all.tex", _DOCUMENT % inputs)


def _write(out: Path, made: Table | Listing, forms: ModuleType) -> None:
    for ending, form in _FORMS.items():
        write_text(out / f"{made.name}.{ending}", getattr(forms, form)(made))
