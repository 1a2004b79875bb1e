"""Tables for a stock LaTeX class with booktabs, longtable and colortbl, by pandas' Styler."""

import re
from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from sharc.results import labels

SHADE = "rowcolor:{gray!20}"
_TEX = {
    labels.PLUS: "$^{+}$", labels.MINUS: "$-$", "±": r"$\pm$", "≈": r"$\approx$",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "%": r"\%", "_": r"\_", "&": r"\&", "…": r"\dots{}",
    labels.DAGGER: r"$^\dagger$",
}  # fmt: skip


def escaped(text: str) -> str:
    """Text for LaTeX; a leading hyphen of a number becomes a minus."""
    text = re.sub(r"(?<![\w-])-(?=\d)", labels.MINUS, str(text))
    return "".join(_TEX.get(letter, letter) for letter in text)


def on_a_page(
    name: str,
    text: pd.DataFrame,
    caption: str,
    notes: list[str],
    align: str,
    shaded: Sequence[bool],
) -> str:
    """A float; its first column names blocks of rows, shaded rows stand out in the second."""
    block, label = text.columns[:2]
    shown = text.map(escaped)
    shown[block] = _once(text[block].tolist())
    plus = escaped(labels.PLUS)
    shown[label] = [
        rf"\textbf{{{name.removesuffix(plus)}}}{plus}" if bold else name
        for name, bold in zip(shown[label], shaded, strict=True)
    ]
    styler = shown.rename(columns=escaped).style.hide(axis="index")
    styler = styler.apply(
        lambda row: [SHADE if shaded[row.name] else ""] + [""] * (len(row) - 1), axis=1
    )
    made = styler.to_latex(hrules=True, multicol_align="c", column_format=align)
    made = _with_rules(made, text)
    foot = "".join(rf"\\[2pt] \parbox{{0.9\linewidth}}{{{escaped(n)}}}" + "\n" for n in notes)
    return (
        "\\begin{table}[ht]\n\\scriptsize\n\\centering\n\\setlength{\\belowcaptionskip}{4pt}\n"
        f"\\caption{{{escaped(caption)}}}\n\\label{{tab:{name}}}\n"
        f"{made}{foot}\\end{{table}}\n"
    )


def _once(blocks: list[str]) -> list[str]:
    """Each name once, halfway down its block, as the paper prints a buffer's size; each dash."""
    shown = []
    for name, rows in groupby(blocks):
        count = len(list(rows))
        halfway = (count - 1) // 2
        shown += [name if name == "-" or row == halfway else "" for row in range(count)]
    return shown


def _with_rules(made: str, text: pd.DataFrame) -> str:
    """Rules under the groups of heads and between blocks, which Styler cannot draw."""
    lines, rules, at = made.splitlines(), "", 0
    for group, heads in groupby(text.columns.get_level_values(0)):
        start, at = at + 1, at + len(list(heads))
        rules += rf"\cmidrule(lr){{{start}-{at}}}" if group else ""
    lines.insert(next(i for i, line in enumerate(lines) if "toprule" in line) + 2, rules)
    first = next(i for i, line in enumerate(lines) if "midrule" in line and "cmid" not in line) + 1
    blocks = text.iloc[:, 0].tolist()
    changes = [i for i in range(1, len(blocks)) if blocks[i] != blocks[i - 1]]
    for row in reversed(changes):
        lines.insert(first + row, r"\midrule")
    return "\n".join(lines) + "\n"


def over_pages(name: str, text: pd.DataFrame, caption: str, notes: list[str], align: str) -> str:
    """A longtable, for it does not fit a page."""
    shown = _spaced(text.map(escaped)).rename(columns=escaped)
    made = shown.style.hide(axis="index").to_latex(
        hrules=True,
        environment="longtable",
        column_format=align,
        caption=escaped(caption),
        label=f"tab:{name}",
    )
    # A stock article's page is narrower than most of these: the whole group is set small.
    small = r"\tiny\setlength{\tabcolsep}{2pt}" if len(align) > 10 else r"\footnotesize"
    foot = r"\par\noindent ".join(escaped(note) for note in notes)
    return (
        f"{{{small}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n{made}\n\\noindent {foot}\\par}}\n"
    )


def _spaced(text: pd.DataFrame) -> pd.DataFrame:
    """A gap above each row whose first two columns, scenario and data set, are new."""
    groups = text.iloc[:, :2]
    new = groups.ne(groups.shift()).any(axis=1)
    first = text.columns[0]
    spaced = text[first].where(~new | (text.index == 0), r"\addlinespace " + text[first])
    return text.assign(**{first: spaced})
