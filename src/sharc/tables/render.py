"""One table, whatever it shows, as LaTeX, HTML, Markdown and CSV."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from sharc.artifacts.files import write_text
from sharc.results.verdicts import IMPROVES, WORSENS
from sharc.tables import latex

COLOURS = {IMPROVES: "#0072B2", WORSENS: "#D55E00"}
_SHADE = "background-color: #e8e8e8"


@dataclass(frozen=True)
class Table:
    """Rows as numbers for programs and as text for people, with the words around them.

    The columns of `text` are heads, or pairs (group, head) for a table with a second line of
    heads. `links` leads from a head to the column of `numbers` that names its cell.
    """

    name: str
    numbers: pd.DataFrame
    text: pd.DataFrame
    caption: str
    notes: list[str]
    align: str  # l, c or r per column of the text
    links: dict[str, str] = field(default_factory=dict)
    verdict: str = ""  # the column of the text that holds our verdicts
    shaded: Sequence[bool] = ()  # rows that stand out, their second column in bold
    title: str = ""  # of its section in the report
    folded: bool = False  # whether the report shows its rows only on request

    @property
    def wide(self) -> bool:
        """A second line of heads: it fits a page, and its first column names blocks of rows."""
        return isinstance(self.text.columns, pd.MultiIndex)

    @property
    def heads(self) -> list[str]:
        """One line of heads, each with its group before it."""
        if not self.wide:
            return list(self.text.columns)
        return [" ".join(filter(None, pair)) for pair in self.text.columns]


def pipes(heads: Sequence[str], lines: Sequence[Sequence[str]], align: str = "") -> str:
    """Heads and lines as a Markdown table; `align` has an r per column to set flush right."""
    head, *rows = (
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n"
        for line in (heads, *lines)
    )
    rule = "".join("---:|" if side == "r" else "---|" for side in align or "l" * len(heads))
    return f"{head}|{rule}\n{''.join(rows)}"


def body(table: Table, *, aligned: bool = False) -> str:
    """The Markdown table alone; rows that stand out have a name in bold."""
    lines = table.text.to_numpy().tolist()
    for line, shaded in zip(lines, table.shaded, strict=False):
        line[1] = f"**{line[1]}**" if shaded else line[1]
    return pipes(table.heads, lines, table.align if aligned else "")


def markdown(table: Table) -> str:
    """A pipe table with its caption above and its notes below."""
    notes = "".join(f"\n{note}\n" for note in table.notes)
    return f"{table.caption}\n\n{body(table)}{notes}"


def csv(table: Table) -> str:
    """Numbers, for other programs."""
    return str(table.numbers.to_csv(index=False, float_format="%.6f", lineterminator="\n"))


def html(table: Table) -> str:
    """A bare HTML table without any script; verdicts are coloured as well as written out."""
    styler = table.text.style.hide(axis="index").set_uuid(table.name).set_caption(table.caption)
    if table.shaded:
        styler = styler.apply(
            lambda row: [_SHADE if table.shaded[row.name] else ""] * len(row), axis=1
        )
    if table.verdict:
        styler = styler.map(
            lambda word: f"color: {COLOURS[word]}; font-weight: bold" if word in COLOURS else "",
            subset=[table.verdict],
        )
    return str(styler.to_html()) + "".join(
        f"<p><small>{note}</small></p>\n" for note in table.notes
    )


def tex(table: Table) -> str:
    """A float that fits a page, or a longtable that need not."""
    parts = (table.name, table.text, table.caption, table.notes, table.align)
    return latex.on_a_page(*parts, table.shaded) if table.wide else latex.over_pages(*parts)


FORMS: dict[str, Callable[[Table], str]] = {
    "tex": tex, "md": markdown, "csv": csv, "html": html,
}  # fmt: skip


def write(table: Table, folder: Path) -> None:
    """`folder/name.tex` and the other forms."""
    for ending, form in FORMS.items():
        write_text(folder / f"{table.name}.{ending}", form(table))
