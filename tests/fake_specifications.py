"""A suite of specifications made from a formula: runs, and what the stage makes of them."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from sharc.artifacts.files import read_json, write_json
from sharc.specifications.design import design
from sharc.specifications.factors import Factor
from sharc.stages import specifications as stage

FACTORS = [
    Factor("fill", "sharc.memory", ("bayes_pcn", "none", "mean"), "the paper's second idea"),
    Factor("views", "features.views", (0, 5), "augmented or not"),
    Factor("rate", "train.learning_rate", (0.1, 0.03), "tuned or not"),
]
SEEDS = range(5)
CLAIMS = Path(__file__).parent.parent / "data/paper/claims.yaml"


def acc_of(choices, arm, seed):
    """50 %; SHARC adds 4 points, 6 less with zeros, 1 less with views; random channels cost 2."""
    value = 50 + 0.2 * seed + 3 * (choices["rate"] == 0.03)
    if arm != "plain":
        zeros = arm == "zeros" or choices["fill"] == "none"
        value += 4 - 6 * zeros - (choices["views"] == 5) - 2 * (arm == "random") + 0.1 * seed
    return value


@cache
def built() -> Path:
    """The folder of the stage, built once per test process."""
    folder = Path(mkdtemp(prefix="sharc-specifications-"))
    objection = lambda s: "costly" if s.choices["fill"] == "mean" and s.choices["views"] else None  # noqa: E731
    made = design(FACTORS, 10, 0, objection)
    arms, records = [], []
    for spec in made.all:
        for arm in ("plain", "sharc", "random", "zeros"):
            if arm == "zeros" and spec.choices["fill"] == "none":
                continue
            run = f"{spec.id}-{arm}"
            arms.append({"specification": spec.id, "arm": arm, "run": run})
            for seed in SEEDS:
                value = acc_of(spec.choices, arm, seed)
                record = {"run": run, "seed": seed, "status": "ok"}
                record["accuracy"] = {
                    "task_il": [[90.0, None], [80.0, 90.0]],
                    "class_il": [[90.0, None], [value, value]],
                }
                records.append(folder / "runs" / run / f"seed{seed}.json")
                write_json(records[-1], record)
    sample = {spec.id for spec in made.sample}
    layout = {
        "fixed": {"dataset": "cifar10", "method": "clser", "buffer": 200},
        "factors": [
            {"name": f.name, "key": f.key, "values": list(f.values), "why": f.why} for f in FACTORS
        ],
        "specifications": [
            {"choices": dict(spec.choices), "sample": spec.id in sample} for spec in made.all
        ],
        "arms": arms,
        "illegal": [{"choices": dict(spec.choices), "why": why} for spec, why in made.illegal],
    }
    layout = json.loads(json.dumps(layout))
    failed = read_json(records[-1]) | {"status": "diverged"}
    write_json(records[-1], failed)
    stage.build(records, CLAIMS, folder / "out", layout=layout)
    return folder / "out"
