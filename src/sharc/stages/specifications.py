"""Stage specifications: runs under every specification -> curves, effects, power and sentences."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import write_json, write_text
from sharc.claims.registry import read as read_claims
from sharc.claims.specified import answers
from sharc.figures import specification_overview
from sharc.figures.specification_curve import draw
from sharc.figures.style import Drawing, save, styled
from sharc.results import labels
from sharc.specifications import answer, saved, words
from sharc.specifications.alone import changes, crosschecked
from sharc.specifications.arms import WHAT
from sharc.specifications.effects import FEWEST, interactions, main_effects
from sharc.specifications.outcomes import Outcome, Questions, outcomes, sampled
from sharc.specifications.power import detectable_gain, seeds_needed, verdicts

SEEDS = (5, 10, 20)


def build(records: Sequence[Path], claims_yaml: Path, out: Path, *, layout: dict[str, Any]) -> None:
    """Write the runs as tables, and what is analysed from them alone."""
    questions = Questions.of(layout)
    saved.write(questions, saved.runs_of(records), out)
    analyse(questions, saved.measured(saved.read_runs(out)), claims_yaml, out)


def analyse(questions: Questions, measured: saved.Measured, claims_yaml: Path, out: Path) -> None:
    """Write the curves as figures and CSV, the analysis as CSV, and index.json for the report."""
    by_metric = {metric: outcomes(questions, scores) for metric, scores in measured.items()}
    asked = [outcome for outcome in by_metric["acc"] if outcome.curve.points]
    tables: dict[str, list[pd.DataFrame]] = {}
    for outcome in asked:
        for name, frame in _analysed(questions, outcome).items():
            outcome_of = {"contrast": outcome.contrast, "scenario": outcome.scenario}
            tables.setdefault(name, []).append(
                frame.assign(**outcome_of)[[*outcome_of, *frame.columns]]
            )
    frames = {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
    for name, frame in frames.items():
        write_text(
            out / f"{name}.csv",
            frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"),
        )
    with styled():
        drawn = [specification_overview.draw(asked)] if asked else []
        drawn += [_drawing(questions, outcome) for outcome in asked]
        figures = [_saved(drawing, out) for drawing in drawn]
    gains = {
        (metric, outcome.scenario): outcome
        for metric, found in by_metric.items()
        for outcome in found
        if outcome.contrast == "gain"
    }
    said = {
        "answer": answer.sentences(
            questions,
            {(outcome.contrast, outcome.scenario): outcome for outcome in by_metric["acc"]},
            frames.get("effects", pd.DataFrame()),
        ),
        "claims": answers(questions, gains, read_claims(claims_yaml)),
    }
    index = _index(questions, asked) | said | {"figures": figures, "omitted": []}
    write_json(out / saved.INDEX, index)


def _analysed(questions: Questions, outcome: Outcome) -> dict[str, pd.DataFrame]:
    """Effects are of the sample; the one-at-a-time runs are given with them as a check."""
    specs, means = sampled(questions, outcome)
    frames = {"power": _power(outcome)}
    if len(specs) >= FEWEST:
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


def _drawing(questions: Questions, outcome: Outcome) -> Drawing:
    what = f"{WHAT[outcome.contrast]} in {labels.scenario(outcome.scenario)} ACC"
    return draw(
        outcome.curve,
        questions.factors,
        name=f"curve_{outcome.contrast}_{outcome.scenario}",
        title=what[0].upper() + what[1:],
        what=what,
    )


def _saved(drawing: Drawing, out: Path) -> dict[str, Any]:
    entry = {"name": drawing.name, "title": drawing.title, "caption": drawing.caption}
    return entry | {"files": save(drawing, out)}


def _index(questions: Questions, asked: Sequence[Outcome]) -> dict[str, Any]:
    few, *_, many = SEEDS
    power = [
        text
        for outcome in asked
        for text in (
            words.power(outcome), words.moves(outcome, few, many), words.blocks(outcome, few)
        )
    ]  # fmt: skip
    return {
        "sentences": [words.sentence(outcome) for outcome in asked],
        "flips": [text for outcome in asked if (text := words.flipped(questions, outcome))],
        "power": [text for text in power if text],
        "counts": {
            "specifications": len(questions.specifications),
            "sample": len(questions.sample),
            "kept": sum(map(questions.counts, questions.specifications)),
            "kept_missing": max((len(outcome.kept.missing) for outcome in asked), default=0),
            "illegal": len(questions.illegal),
            "runs": len(set(questions.runs.values())),
        },
        "pooled": [
            {
                "contrast": outcome.contrast,
                "scenario": outcome.scenario,
                "gain": _rounded(outcome.curve.pooled.gain.mean),
                "low": _rounded(outcome.curve.pooled.gain.low),
                "high": _rounded(outcome.curve.pooled.gain.high),
            }
            for outcome in asked
        ],
        "factors": [
            {"name": f.name, "key": f.key, "values": list(f.values), "why": f.why}
            for f in questions.factors
        ],
        "fixed": dict(questions.fixed),
    }


def _rounded(value: float) -> float | None:
    """For JSON, which has no NaN: None where one seed has no interval."""
    return None if math.isnan(value) else round(value, 6)
