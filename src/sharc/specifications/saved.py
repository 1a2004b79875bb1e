"""The design and the runs of a suite of specifications as tables, written and read back.

The analysis rests on them alone: it can be repeated from the tables without any of the runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from sharc.artifacts.files import read_json, write_text
from sharc.metrics import acc, backward_transfer
from sharc.results.layout import SCENARIOS
from sharc.specifications.factors import Factor, Specification
from sharc.specifications.outcomes import Questions, Scores

DESIGN, RUNS, ILLEGAL, INDEX = "specifications.csv", "runs.csv", "illegal.csv", "index.json"
METRICS = ("acc", "bwt")
Measured = Mapping[str, Scores]  # by metric


def runs_of(records: Iterable[Path]) -> pd.DataFrame:
    """ACC and BWT of each run in both scenarios; empty where it failed or diverged."""
    rows = []
    for path in sorted(records):
        record = read_json(path)
        row = {"run": record["run"], "seed": record["seed"]}
        if record["status"] == "ok":
            for scenario in SCENARIOS:
                matrix = pd.DataFrame(record["accuracy"][scenario]).to_numpy(dtype=float)
                row[f"{scenario}_acc"] = acc(matrix)
                row[f"{scenario}_bwt"] = backward_transfer(matrix)
        rows.append(row)
    numbers = [f"{scenario}_{metric}" for scenario in SCENARIOS for metric in METRICS]
    return pd.DataFrame(rows, columns=["run", "seed", *numbers])


def write(questions: Questions, runs: pd.DataFrame, folder: Path) -> None:
    """One row per specification; one per specification, arm and seed; one per illegal draw."""
    found = [(spec.id, spec.id in questions.sample, spec) for spec in questions.specifications]
    rows = [[name, drawn, *_texts(spec, questions.factors)] for name, drawn, spec in found]
    names = [factor.name for factor in questions.factors]
    _write(pd.DataFrame(rows, columns=["specification", "sample", *names]), folder / DESIGN)
    arms = pd.DataFrame(
        [[*place, run] for place, run in questions.runs.items()],
        columns=["specification", "arm", "run"],
    )
    planned = arms.merge(pd.DataFrame({"seed": sorted(set(runs["seed"]))}), how="cross")
    _write(planned.merge(runs, on=["run", "seed"], how="left").round(8), folder / RUNS)
    rows = [[*_texts(spec, questions.factors), why] for spec, why in questions.illegal]
    _write(pd.DataFrame(rows, columns=[*names, "why"]), folder / ILLEGAL)


def read(folder: Path) -> tuple[Questions, Measured]:
    """What was asked and what was measured; index.json has the factors."""
    index = read_json(folder / INDEX)
    factors = [Factor(f["name"], f["key"], tuple(f["values"]), f["why"]) for f in index["factors"]]
    design, illegal = (_texts_in(folder / name) for name in (DESIGN, ILLEGAL))
    specs = [_specification(row, factors) for row in design]
    runs = read_runs(folder)
    questions = Questions(
        factors,
        specs,
        {row["specification"] for row in design if row["sample"] == "True"},
        {
            (row["specification"], row["arm"]): row["run"]
            for row in runs.drop_duplicates(["specification", "arm"]).to_dict("records")
        },
        [(_specification(row, factors), row["why"]) for row in illegal],
        index["fixed"],
    )
    return questions, measured(runs)


def read_runs(folder: Path) -> pd.DataFrame:
    """The table of runs; an id such as 12e34567 is not a number."""
    texts = dict.fromkeys(("specification", "arm", "run"), str)
    return pd.read_csv(folder / RUNS, dtype=texts)


def measured(runs: pd.DataFrame) -> Measured:
    """By metric: the values of each run and scenario, by seed."""
    each = runs.drop_duplicates(["run", "seed"])
    found: dict[str, dict[tuple[str, str], dict[int, float]]] = {}
    for metric in METRICS:
        of_metric = found.setdefault(metric, {})
        for scenario in SCENARIOS:
            known = each[each[f"{scenario}_{metric}"].notna()]
            values = zip(known["run"], known["seed"], known[f"{scenario}_{metric}"], strict=True)
            for run, seed, value in values:
                of_metric.setdefault((str(run), scenario), {})[int(seed)] = float(value)
    return found


def _texts(spec: Specification, factors: Sequence[Factor]) -> list[str]:
    return [str(spec.choices[factor.name]) for factor in factors]


def _texts_in(path: Path) -> list[dict[str, str]]:
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)  # the memory called "none" too
    return list(frame.to_dict("records"))


def _specification(row: Mapping[str, str], factors: Sequence[Factor]) -> Specification:
    """The specification whose values a row holds as text."""
    return Specification(
        {f.name: {str(value): value for value in f.values}[row[f.name]] for f in factors}
    )


def _write(frame: pd.DataFrame, path: Path) -> None:
    write_text(path, frame.to_csv(index=False, lineterminator="\n"))
