"""A table as LaTeX, HTML, Markdown and CSV; LaTeX and HTML are written by pandas' Styler."""

import pandas as pd

from sharc.results import labels
from sharc.tables.latex import pipes, tex
from sharc.tables.main import Table

SHADE = "rowcolor:{gray!20}"
METRICS = {"acc": "ACC (↑)", "bwt": "BWT (↑)"}


def notes(table: Table) -> list[str]:
    """What a reader must know beside the numbers."""
    cells = [cell for _, cells in table.rows for cell in cells if cell.name]
    found = []
    if {"mini_imagenet", "tiny_imagenet"} & set(table.datasets):
        found.append(labels.THIRD_COLUMN_NOTE)
    if any(cell.n_missing for cell in cells):
        found.append(
            "(n=…): only so many of the planned runs ended well; missing: none did. "
            "Such runs are never averaged over."
        )
    return found


def caption(table: Table) -> str:
    """The paper's caption, about our runs."""
    runs = max((cell.n for _, cells in table.rows for cell in cells), default=0)
    return (
        f"Our runs, {labels.scenario(table.scenario)}: mean and standard deviation over {runs} "
        f"seeds, in percent. {labels.PLUS} denotes the method combined with SHARC."
    )


def frame(table: Table, *, buffer_everywhere: bool) -> pd.DataFrame:
    """Text of the table, columns (data set, metric); Buffer and Model lead."""
    columns = [("", "Buffer"), ("", "Model")]
    columns += [(labels.dataset(name), METRICS[m]) for name in table.datasets for m in METRICS]
    shown = _buffer_labels(table, everywhere=buffer_everywhere)
    lines = [
        [buffer, row.label, *(cell.text(metric) for cell in cells for metric in METRICS)]
        for buffer, (row, cells) in zip(shown, table.rows, strict=True)
    ]
    return pd.DataFrame(lines, columns=pd.MultiIndex.from_tuples(columns))


def _buffer_labels(table: Table, *, everywhere: bool) -> list[str]:
    """The paper prints a buffer's size once, halfway down its group."""
    sizes = [row.buffer for row, _ in table.rows]
    shown = ["-" if size == 0 else str(size) for size in sizes]
    if everywhere:
        return shown
    halfway = {size: sizes.index(size) + (sizes.count(size) - 1) // 2 for size in sizes}
    return [
        text if size == 0 or halfway[size] == place else ""
        for place, (size, text) in enumerate(zip(sizes, shown, strict=True))
    ]


def csv(table: Table) -> str:
    """Numbers, one row per cell: for other programs."""
    lines = [
        {
            "scenario": table.scenario, "dataset": name, "buffer": row.buffer,
            "method": row.method, "sharc": int(row.plus), "n": cell.n,
            "n_missing": cell.n_missing, "acc_mean": cell.acc.mean, "acc_sd": cell.acc.sd,
            "bwt_mean": cell.bwt.mean, "bwt_sd": cell.bwt.sd, "verdict": cell.verdict,
        }
        for row, cells in table.rows
        for name, cell in zip(table.datasets, cells, strict=True)
    ]  # fmt: skip
    return str(pd.DataFrame(lines).to_csv(index=False, float_format="%.6f", lineterminator="\n"))


def markdown(table: Table) -> str:
    """A pipe table; "+" rows in bold where LaTeX shades them."""
    text = frame(table, buffer_everywhere=True)
    heads = [" ".join(filter(None, column)) for column in text.columns]
    lines = [
        [line[0], f"**{line[1]}**" if row.plus else line[1], *line[2:]]
        for (row, _), line in zip(table.rows, text.to_numpy().tolist(), strict=True)
    ]
    foot = "".join(f"\n{note}\n" for note in notes(table))
    return f"{caption(table)}\n\n{pipes(heads, lines)}{foot}"


def html(table: Table) -> str:
    """A bare HTML table with classes, no inline script; the report draws its own."""
    text = frame(table, buffer_everywhere=True)
    plus = [row.plus for row, _ in table.rows]
    styler = text.style.hide(axis="index").set_uuid(table.name).set_caption(caption(table))
    styler = styler.apply(
        lambda row: ["background-color: #e8e8e8" if plus[row.name] else ""] * len(row), axis=1
    )
    foot = "".join(f"<p><small>{note}</small></p>\n" for note in notes(table))
    return str(styler.to_html(cell_ids=True)) + foot


def latex(table: Table) -> str:
    """A float for a stock article class with booktabs, colortbl (xcolor's table option)."""
    text = frame(table, buffer_everywhere=False).map(tex).rename(columns=tex)
    plus = [row.plus for row, _ in table.rows]
    text[("", "Model")] = [
        rf"\textbf{{{name.removesuffix(tex(labels.PLUS))}}}$^{{+}}$" if shaded else name
        for name, shaded in zip(text[("", "Model")], plus, strict=True)
    ]
    styler = text.style.hide(axis="index").apply(
        lambda row: [SHADE if plus[row.name] else ""] + [""] * (len(row) - 1), axis=1
    )
    body = styler.to_latex(
        hrules=True, multicol_align="c", column_format="cl" + "cc" * len(table.datasets)
    )
    body = _group_rules(body, table)
    foot = "".join(rf"\\[2pt] \parbox{{0.9\linewidth}}{{{tex(n)}}}" + "\n" for n in notes(table))
    return (
        "\\begin{table}[ht]\n\\scriptsize\n\\centering\n\\setlength{\\belowcaptionskip}{4pt}\n"
        f"\\caption{{{tex(caption(table))}}}\n\\label{{tab:{table.name}}}\n"
        f"{body}{foot}\\end{{table}}\n"
    )


def _group_rules(body: str, table: Table) -> str:
    """Rules under the data sets' heads and between buffers, which Styler cannot draw."""
    lines = body.splitlines()
    rules = "".join(
        rf"\cmidrule(lr){{{3 + 2 * i}-{4 + 2 * i}}}" for i in range(len(table.datasets))
    )
    lines.insert(next(i for i, line in enumerate(lines) if "toprule" in line) + 2, rules)
    first = next(i for i, line in enumerate(lines) if "midrule" in line and "cmid" not in line) + 1
    sizes = [row.buffer for row, _ in table.rows]
    changes = [i for i in range(1, len(sizes)) if sizes[i] != sizes[i - 1]]
    for place in reversed(changes):
        lines.insert(first + place, r"\midrule")
    return "\n".join(lines) + "\n"
