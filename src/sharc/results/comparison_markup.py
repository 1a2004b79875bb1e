"""The comparison as Markdown, HTML and LaTeX, with a count of verdicts on top."""

import pandas as pd

from sharc.results import labels
from sharc.results.comparison import readable
from sharc.results.markup import tex
from sharc.results.verdicts import IMPROVES, UNDECIDED, WORSENS

NOTE = (
    f"Gain: ACC of {labels.PLUS} minus ACC of its base, paired by seed, in points, with a "
    "bootstrap interval over seeds. A direction counts as decided only if the interval excludes "
    "zero. “Paper says” is the sign of the printed means' difference."
)


def counts(frame: pd.DataFrame) -> str:
    """`Task-IL: of 18 ⁺ cells 12 improve, 1 worsen, 5 undecided; the paper's ...`."""
    lines = []
    for scenario, group in frame.groupby("scenario", sort=False):
        verdicts = group["verdict"].value_counts()
        printed = group["paper_direction"].value_counts()
        tested = int(sum(verdicts.get(word, 0) for word in (IMPROVES, WORSENS, UNDECIDED)))
        line = f"{labels.scenario(str(scenario))}: of {tested} {labels.PLUS} cells " + ", ".join(
            f"{int(verdicts.get(word, 0))} {said}"
            for word, said in ((IMPROVES, "improve"), (WORSENS, "worsen"), (UNDECIDED, "undecided"))
        )
        if said := int(printed.get(IMPROVES, 0) + printed.get(WORSENS, 0)):
            line += f"; the paper's printed means rise in {int(printed.get(IMPROVES, 0))} of {said}"
        lines.append(line + ".")
    return " ".join(lines)


def foot(frame: pd.DataFrame) -> list[str]:
    """Notes below the comparison."""
    third = {"mini_imagenet", "tiny_imagenet"} & set(frame["dataset"])
    return [NOTE, *([labels.THIRD_COLUMN_NOTE] if third else [])]


def markdown(frame: pd.DataFrame) -> str:
    """A pipe table."""
    text = readable(frame)
    heads = "| " + " | ".join(text.columns) + " |\n|" + "---|" * len(text.columns)
    lines = ["| " + " | ".join(line) + " |" for line in text.to_numpy().tolist()]
    notes = "\n\n".join(foot(frame))
    return f"{counts(frame)}\n\n{heads}\n" + "\n".join(lines) + f"\n\n{notes}\n"


def html(frame: pd.DataFrame) -> str:
    """An HTML table whose verdicts are coloured and written out."""
    colours = {IMPROVES: "#0072B2", WORSENS: "#D55E00"}
    styler = readable(frame).style.hide(axis="index").set_uuid("comparison")
    styler = styler.set_caption(counts(frame)).map(
        lambda word: f"color: {colours[word]}; font-weight: bold" if word in colours else "",
        subset=["Our verdict"],
    )
    notes = "".join(f"<p><small>{note}</small></p>\n" for note in foot(frame))
    return str(styler.to_html()) + notes


def latex(frame: pd.DataFrame) -> str:
    """A longtable, for it does not fit a page."""
    text = readable(frame).map(tex).rename(columns=tex)
    body = text.style.hide(axis="index").to_latex(
        hrules=True,
        environment="longtable",
        column_format="ll" + "rl" + "r" * 7 + "lll",
        caption=tex(counts(frame)),
        label="tab:comparison",
    )
    # A stock article's page is narrower than the table: the whole group is set small.
    notes = r"\par ".join(tex(note) for note in foot(frame))
    return f"{{\\tiny\\setlength{{\\tabcolsep}}{{2pt}}\n{body}\n\\noindent {notes}\\par}}\n"
