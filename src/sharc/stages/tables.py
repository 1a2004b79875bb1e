"""Stage tables: results beside the paper's numbers, as LaTeX, Markdown, CSV and HTML."""

from pathlib import Path
from typing import Any

from sharc.artifacts.files import write_text
from sharc.results import comparison, comparison_markup, markup
from sharc.results.frames import Results
from sharc.results.layout import GROUPS, SCENARIOS, Layout
from sharc.results.paper import Paper
from sharc.results.tables import Table, table

_DOCUMENT = r"""\documentclass[10pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=1.6cm]{geometry}
\usepackage{booktabs,longtable,amssymb}
\usepackage[table]{xcolor}
\begin{document}
%s\end{document}
"""


def build(results: Path, paper_csv: Path, out: Path, *, layout: dict[str, Any]) -> None:
    """Write {task_il,class_il}_{main,appendix} and comparison, each as tex, md, csv and html.

    A group without buffers (no appendix in a small suite) has no table. all.tex is a document
    that shows them all with a stock article class.
    """
    shape, found = Layout.of(layout), Results(results)
    names = []
    for scenario in SCENARIOS:
        for group in GROUPS:
            if buffers := getattr(shape, group):
                names.append(_write(out, table(found, shape, scenario, group, buffers)))
    frame = comparison.compare(found, shape, Paper(paper_csv))
    write_text(
        out / "comparison.csv",
        frame.to_csv(index=False, float_format="%.6f", lineterminator="\n"),
    )
    write_text(out / "comparison.md", comparison_markup.markdown(frame))
    write_text(out / "comparison.html", comparison_markup.html(frame))
    write_text(out / "comparison.tex", comparison_markup.latex(frame))
    inputs = "".join(f"\\input{{{name}}}\n" for name in names)
    write_text(out / "all.tex", _DOCUMENT % (inputs + "\\clearpage\n\\input{comparison}\n"))


def _write(out: Path, found: Table) -> str:
    for ending in (markup.latex, markup.markdown, markup.csv, markup.html):
        suffix = {"latex": "tex", "markdown": "md"}.get(ending.__name__, ending.__name__)
        write_text(out / f"{found.name}.{suffix}", ending(found))
    return found.name
