"""Stage tables: results beside the paper's numbers, as LaTeX, Markdown, CSV and HTML."""

from pathlib import Path
from types import ModuleType
from typing import Any

from sharc.artifacts.files import write_text
from sharc.results.folder import Results
from sharc.results.layout import GROUPS, SCENARIOS, Layout
from sharc.results.paper import Paper
from sharc.tables import comparison, comparison_text, long_table, markup
from sharc.tables.extra import listings
from sharc.tables.long_table import Listing
from sharc.tables.main import Table, table

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
    for rows in (comparison_text.listing(frame), *listings(found, shape)):
        _write(out, rows, long_table)
        inputs += f"\\clearpage\n\\input{{{rows.name}}}\n"
    write_text(out / "all.tex", _DOCUMENT % inputs)


def _write(out: Path, made: Table | Listing, forms: ModuleType) -> None:
    for ending, form in _FORMS.items():
        write_text(out / f"{made.name}.{ending}", getattr(forms, form)(made))
