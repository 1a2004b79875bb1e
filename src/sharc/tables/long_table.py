"""A long table of rows as LaTeX, HTML, Markdown and CSV, whatever it lists."""

from dataclasses import dataclass

import pandas as pd

from sharc.results.verdicts import IMPROVES, WORSENS
from sharc.tables.latex import pipes, tex

COLOURS = {IMPROVES: "#0072B2", WORSENS: "#D55E00"}


@dataclass(frozen=True)
class Listing:
    """The rows as numbers and as text, with what stands around them."""

    name: str
    frame: pd.DataFrame
    text: pd.DataFrame
    caption: str
    notes: list[str]
    align: str  # l or r per column of the text
    links: dict[str, str]  # column of the text -> column of the frame that names its cell
    verdict: str = ""  # the column of the text that holds our verdicts


def csv(found: Listing) -> str:
    """Numbers, for other programs."""
    return str(found.frame.to_csv(index=False, float_format="%.6f", lineterminator="\n"))


def markdown(found: Listing) -> str:
    """A pipe table."""
    table = pipes(list(found.text.columns), found.text.to_numpy().tolist())
    notes = "\n\n".join(found.notes)
    return f"{found.caption}\n\n{table}\n{notes}\n"


def html(found: Listing) -> str:
    """An HTML table whose verdicts are coloured and written out."""
    styler = found.text.style.hide(axis="index").set_uuid(found.name).set_caption(found.caption)
    if found.verdict:
        styler = styler.map(
            lambda word: f"color: {COLOURS[word]}; font-weight: bold" if word in COLOURS else "",
            subset=[found.verdict],
        )
    notes = "".join(f"<p><small>{note}</small></p>\n" for note in found.notes)
    return str(styler.to_html()) + notes


def latex(found: Listing) -> str:
    """A longtable, for it does not fit a page."""
    text = _spaced(found.text.map(tex)).rename(columns=tex)
    body = text.style.hide(axis="index").to_latex(
        hrules=True,
        environment="longtable",
        column_format=found.align,
        caption=tex(found.caption),
        label=f"tab:{found.name}",
    )
    # A stock article's page is narrower than most listings: the whole group is set small.
    small = r"\tiny\setlength{\tabcolsep}{2pt}" if len(found.align) > 10 else r"\footnotesize"
    notes = r"\par\noindent ".join(tex(note) for note in found.notes)
    return (
        f"{{{small}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n{body}\n\\noindent {notes}\\par}}\n"
    )


def _spaced(text: pd.DataFrame) -> pd.DataFrame:
    """A gap above each row whose first two columns, scenario and data set, are new."""
    groups = text.iloc[:, :2]
    new = groups.ne(groups.shift()).any(axis=1)
    first = text.columns[0]
    spaced = text[first].where(~new | (text.index == 0), r"\addlinespace " + text[first])
    return text.assign(**{first: spaced})
