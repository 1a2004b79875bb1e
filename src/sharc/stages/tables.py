"""Stage tables: results and the paper's numbers, as LaTeX, Markdown, CSV and HTML."""

from pathlib import Path
from typing import Any

from sharc.artifacts.files import write_text
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.tables.registry import tables
from sharc.tables.render import write

_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=1.6cm]{geometry}
\usepackage{booktabs,longtable,amssymb}
\usepackage[table]{xcolor}
\begin{document}
%s\end{document}
"""


def build(results: Path, paper_csv: Path, out: Path, *, layout: dict[str, Any]) -> None:
    """Write every table this suite has rows for, each as tex, md, csv and html.

    all.tex is a document that shows them all with a stock article class.
    """
    inputs = ""
    for table in tables(Results(results), Layout.of(layout), Paper(paper_csv)):
        write(table, out)
        inputs += ("" if table.wide else "\\clearpage\n") + f"\\input{{{table.name}}}\n"
    write_text(out / "all.tex", _DOCUMENT % inputs)
