"""Stage specifications: runs under every specification -> curves, effects, power and sentences."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import read_json, write_json, write_text
from sharc.figures.specification_curve import draw
from sharc.figures.style import save, styled
from sharc.metrics import acc
from sharc.results import labels
from sharc.results.layout import SCENARIOS
from sharc.specifications import words
from sharc.specifications.alone import changes, crosschecked
from sharc.specifications.arms import WHAT
from sharc.specifications.effects import interactions, main_effects
from sharc.specifications.outcomes import Outcome, Questions, Scores, outcomes, sampled
from sharc.specifications.power import detectable_gain, seeds_needed, verdicts

SEEDS = (5, 10, 20)
_FEWEST = 10  # gains below which no effects are fitted


def build(records: Sequence[Path], out: Path, *, layout: dict[str, Any]) -> None:
    """Write the curves as figures and CSV, the analysis as CSV, and index.json for the report."""
    questions = Questions.of(layout)
    found = outcomes(questions, scores_of(records))
    analyses: dict[str, list[pd.DataFrame]] = {"effects": [], "interactions": [], "power": []}
    figures = []
    for outcome in found:
        for name, frame in _analysed(questions, outcome).items():
            place = {"contrast": outcome.contrast, "scenario": outcome.scenario}
            analyses[name].append(frame.assign(**place)[[*place, *frame.columns]])
        if outcome.curve.points:
            figures.append(_drawn(questions, outcome, out))
    for name, frames in analyses.items():
        _write(pd.concat(frames, ignore_index=True), out / f"{name}.csv")
    _write(_listed(questions), out / "illegal.csv")
    write_json(out / "index.json", _index(questions, found, figures))


def scores_of(records: Sequence[Path]) -> Scores:
    """ACC of every run that ended well, by the folder of its record, scenario and seed."""
    scores: dict[tuple[str, str], dict[int, float]] = {}
    for path in sorted(records):
        record = read_json(path)
        if record["status"] != "ok":
            continue
        for scenario in SCENARIOS:
            value = acc(pd.DataFrame(record["accuracy"][scenario]).to_numpy(dtype=float))
            scores.setdefault((record["run"], scenario), {})[record["seed"]] = value
    return scores


def _analysed(questions: Questions, outcome: Outcome) -> dict[str, pd.DataFrame]:
    """Effects are of the sample; the one-at-a-time runs stand beside them as a check."""
    specs, means = sampled(questions, outcome)
    frames = {"power": _power(outcome)}
    if len(specs) >= _FEWEST:
        alone = changes(questions.factors, questions.default, outcome.gains)
        effects = main_effects(questions.factors, specs, means)
        frames["effects"] = crosschecked(effects, alone)
        frames["interactions"] = interactions(questions.factors, specs, means)
    return frames


def _power(outcome: Outcome) -> pd.DataFrame:
    """Per specification: the gains' spread, what each number of seeds detects, its verdicts."""
    rows = []
    for point in outcome.curve.points:
        gain, name = point.gain, point.specification.id
        row: dict[str, Any] = {"specification": name, "gain": gain.mean, "sd": gain.sd, "n": gain.n}
        row |= {f"detects_{n}": detectable_gain(gain.sd, n) for n in SEEDS}
        row["seeds_needed"] = seeds_needed(gain.sd, gain.mean) if gain.n > 1 else None
        decided = verdicts(outcome.gains[name], SEEDS)
        rows.append(row | {f"verdict_{n}": decided.get(n, "") for n in SEEDS})
    return pd.DataFrame(rows)


def _drawn(questions: Questions, outcome: Outcome, out: Path) -> dict[str, Any]:
    what = f"{WHAT[outcome.contrast]} in {labels.scenario(outcome.scenario)} ACC"
    with styled():
        drawing = draw(
            outcome.curve,
            questions.factors,
            name=f"curve_{outcome.contrast}_{outcome.scenario}",
            title=what[0].upper() + what[1:],
            what=what,
        )
        files = save(drawing, out)
    told = {"name": drawing.name, "title": drawing.title, "caption": drawing.caption}
    return told | {"files": files}


def _listed(questions: Questions) -> pd.DataFrame:
    """Every combination that was set aside."""
    rows = [{**spec.choices, "why": why} for spec, why in questions.illegal]
    return pd.DataFrame(rows, columns=[*(f.name for f in questions.factors), "why"])


def _index(
    questions: Questions, found: Sequence[Outcome], figures: list[dict[str, Any]]
) -> dict[str, Any]:
    asked = [outcome for outcome in found if outcome.curve.points]
    return {
        "figures": figures,
        "omitted": [],
        "sentences": [words.sentence(outcome) for outcome in asked],
        "flips": [text for outcome in asked if (text := words.flipped(questions, outcome))],
        "power": [text for outcome in asked if (text := words.power(outcome))],
        "counts": {
            "specifications": len(questions.specifications),
            "sample": len(questions.sample),
            "illegal": len(questions.illegal),
        },
        "pooled": [
            {
                "contrast": outcome.contrast,
                "scenario": outcome.scenario,
                "gain": outcome.curve.pooled.gain.mean,
                "low": outcome.curve.pooled.gain.low,
                "high": outcome.curve.pooled.gain.high,
            }
            for outcome in asked
        ],
        "factors": [
            {"name": f.name, "key": f.key, "values": list(f.values), "why": f.why}
            for f in questions.factors
        ],
    }


def _write(frame: pd.DataFrame, path: Path) -> None:
    write_text(path, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
