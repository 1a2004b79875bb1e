"""The section on specifications: what a suite of them found, from its folder or a committed one."""

from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import read_json
from sharc.report import listed, pictures
from sharc.results import labels
from sharc.results.layout import SCENARIOS
from sharc.results.verdicts import interval
from sharc.specifications.answer import LEVEL
from sharc.tables.render import Table

Json = dict[str, Any]
_SHOWN = 12  # interactions


def section(folder: Path, power: Path | None = None) -> Json:
    """Everything that the section shows; claims by id, for the section on them.

    `power` is a folder of the same kind, of the suite that has more seeds.
    """
    index = pictures.figures(folder)
    more = read_json(power / "index.json")["power"] if power else []
    first, *others = index["figures"] or [None]
    return {
        "lead": first,
        "figures": others,
        "answer": index["answer"],
        "sentences": index["sentences"],
        "flips": index["flips"],
        "power": [*index["power"], *more],
        "counts": index["counts"],
        "claims": {claim["id"]: claim["text"] for claim in index["claims"]},
        "effects": _listing(folder / "effects.csv", effects),
        "interactions": _listing(folder / "interactions.csv", interactions),
    }


def _listing(path: Path, table: Any) -> Json | None:
    """A table of the gain; none where too few specifications were fitted."""
    if not path.is_file():
        return None
    frame = pd.read_csv(path, dtype={"value": str, "default": str}, keep_default_na=False,
                        na_values=[""])  # fmt: skip
    return listed.shown(table(frame[frame["contrast"] == "gain"]))


def effects(frame: pd.DataFrame) -> Table:
    """Per choice, in both scenarios: the fitted effect and the one-at-a-time change."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in frame.to_dict("records"):
        name = labels.scenario(row["scenario"])
        shown = rows.setdefault((row["factor"], row["value"]), {})
        low, high = row["alone_low"], row["alone_high"]
        shown[f"{name}, fitted"] = interval(row["effect"], row["low"], row["high"])
        shown[f"{name}, p"] = "-" if pd.isna(row["p_holm"]) else f"{row['p_holm']:.3f}"
        shown[f"{name}, alone"] = interval(row["alone"], low, high)
    heads = [
        f"{labels.scenario(name)}, {what}"
        for name in reversed(SCENARIOS)
        for what in ("fitted", "p", "alone")
    ]
    text = pd.DataFrame(
        [[*choice, *(found.get(head, "-") for head in heads)] for choice, found in rows.items()],
        columns=["Factor", "Value", *heads],
    )
    caption = (
        "How many points SHARC's gain changes when a choice takes the default's place: fitted over "
        "the random sample, with Holm's p, and alone around the default, each with its 95 % "
        "interval."
    )
    return Table("effects", text, text, caption, [], "ll" + "r" * len(heads))


def interactions(frame: pd.DataFrame) -> Table:
    """The strongest pairs of factors."""
    shown = frame.sort_values("p_holm", kind="stable").head(_SHOWN)
    text = pd.DataFrame(
        [
            [
                labels.scenario(row["scenario"]),
                f"{row['first']} × {row['second']}",
                row["at"],
                interval(row["effect"], row["low"], row["high"]),
                f"{100 * row['share']:.0f} %",
                f"{row['p_holm']:.3f}",
            ]
            for row in shown.to_dict("records")
        ],
        columns=["Scenario", "Pair", "At", "Coefficient", "Share", "p"],
    )
    clear = int((frame["p_holm"] < LEVEL).sum())
    caption = (
        f"The {len(text)} interactions with the smallest p of an F test, after Holm; {clear} of "
        f"{len(frame)} are below 5 %. Share: of what the main effects leave unexplained."
    )
    return Table("interactions", text, text, caption, [], "lllrrr")
