"""What the README and docs/specifications.md say of committed specifications, between their marks.

python -m docs.answer
"""

import textwrap
from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import read_json
from sharc.results import labels
from sharc.results.layout import SCENARIOS
from sharc.results.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED, interval
from sharc.specifications import saved
from sharc.tables.render import pipes

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- made by python -m docs.answer -->", "<!-- end -->"
_WIDTH = 100
Json = dict[str, Any]


def readme(results: Path) -> str:
    """The answer in three sentences; nothing before there is one."""
    index = _index(results / "specifications")
    if index is None:
        return ""
    counts = index["counts"]
    lost = counts["kept_missing"]
    more = "One more diverged and is" if lost == 1 else f"{lost} more diverged and are"
    missing = f" {more} left out." if lost else ""
    said = " ".join(index["answer"])
    return _wrapped(
        f"{said} We drew {counts['sample']} combinations of "
        f"{_varied(results / 'specifications', index)} such choices at random; these are the "
        f"{counts['kept'] - lost} that keep both of the paper's ideas.{missing} More under "
        f"[Specifications](docs/specifications.md)."
    )


def _varied(folder: Path, index: Json) -> int:
    """How many factors the random sample varies: one that is varied alone keeps its default."""
    design = pd.read_csv(folder / saved.DESIGN, dtype=str, keep_default_na=False)
    sample = design[design["sample"] == "True"]
    return sum(sample[factor["name"]].nunique() > 1 for factor in index["factors"])


def page(results: Path) -> str:
    """The answer, the paper's sentences, the curves and what seeds can detect."""
    parts = [*_answer(results / "specifications"), *_power(results / "power")]
    return "\n".join(parts) or _wrapped("The suite has not been built yet.")


def _answer(folder: Path) -> list[str]:
    index = _index(folder)
    if index is None:
        return []
    claims = [
        [c["says"], *(str(c["counts"][v]) for v in (REPRODUCED, NOT_REPRODUCED, UNDECIDED)),
         labels.signed(c["median"], 1)]
        for c in index["claims"] if "counts" in c
    ]  # fmt: skip
    fitted = [f"- {claim['says']} {claim['text']}" for claim in index["claims"] if
              "counts" not in claim]  # fmt: skip
    heads = ["The paper says", REPRODUCED, NOT_REPRODUCED, UNDECIDED, "median gain"]
    place = f"../results/{folder.name}"
    return [
        _wrapped(" ".join(index["answer"])),
        f'<picture><source media="(max-width: 44rem)" srcset="{place}/curves_narrow.png">'
        f'<img src="{place}/curves.png" alt="Gains of all specifications, in order"></picture>\n',
        _wrapped(index["figures"][0]["caption"]),
        pipes(heads, claims, "lrrrr"),
        *([_listed(fitted)] if fitted else []),
        _wrapped("Which single choices change what the default says, and what five seeds detect:"),
        _listed(f"- {sentence}" for sentence in (*index["flips"], *index["power"])),
    ]


def _power(folder: Path) -> list[str]:
    """Per cell of the suite `power`: what 5 and 20 seeds detect, and what they decide."""
    index = _index(folder)
    if index is None:
        return []
    cells = pd.read_csv(folder / "specifications.csv", dtype=str).set_index("specification")
    names = [factor["name"] for factor in index["factors"]]
    found = pd.read_csv(folder / "power.csv", dtype={"specification": str})
    rows = []
    for row in found.sort_values("scenario", key=lambda s: s.map(SCENARIOS.index)).to_dict(
        "records"
    ):
        cell = cells.loc[row["specification"]]
        chosen = [labels.dataset(labels.method(cell[name])) for name in names]
        detects = [f"{row[f'detects_{n}']:.1f}" for n in (5, 20)]
        decided = [row[f"verdict_{n}"] for n in (5, 20)]
        gain = interval(row["gain"], float("nan"), float("nan"))
        rows.append([labels.scenario(row["scenario"]), *chosen, gain, *detects, *decided])
    heads = ["", *names, "gain", "5 seeds detect", "20 detect", "5 decide", "20 decide"]
    return [
        _wrapped(
            f"With twenty seeds, {len(cells)} cheap specifications (suite `power`, "
            f"[numbers](../results/{folder.name}/power.csv)):"
        ),
        _listed(f"- {sentence}" for sentence in index["power"]),
        pipes(heads, rows, "l" * (1 + len(names)) + "rrrll"),
    ]


def _index(folder: Path) -> Json | None:
    path = folder / "index.json"
    return read_json(path) if path.is_file() else None


def _wrapped(text: str, indent: str = "") -> str:
    lines = textwrap.wrap(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines) + "\n"


def _listed(items: Any) -> str:
    return "".join(_wrapped(item, "  ") for item in items)


PAGES = {"README.md": readme, "docs/specifications.md": page}


def filled(name: str, results: Path) -> str:
    """A page with what these results say between its marks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    made = PAGES[name](results)
    between = f"\n{made}\n" if made else ""
    return f"{before}{BEGIN}\n{between}{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    for name in PAGES:
        (ROOT / name).write_text(filled(name, ROOT / "results"), encoding="utf-8")
