"""A ladder of run records made from formulas: for tests and for looking at the figure."""

from functools import cache
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd

from fake_results import PAPER
from sharc.artifacts.files import write_json
from sharc.artifacts.runs import relative_path
from sharc.results import ladder as rows
from sharc.results.ladder_plan import LadderPlan
from sharc.results.paper import Paper
from sharc.stages import ladder

TASKS = {"cifar10": 5, "cifar100": 20}
SWITCHES = (
    ("read", "joint_adam", "collapsed"),
    ("bn_mode", "train", "eval"),
    ("normalisation", "dataset", "own"),
    ("budget_count", "nonzero", "kept"),
    ("buffer_rule", "batch_prefix", "last"),
    ("saliency", "relu_ge", "abs_gt"),
    ("write_scope", "last_batches", "stored"),
    ("recall_scope", "last_batches", "all"),
    ("recall", "at_store", "task_start"),
    ("stored", "recalled", "masked"),
    ("forget", "write", "task"),
)
READ_BY_ALL = {"bn_mode", "normalisation", "budget_count", "buffer_rule"}
# What a switch does to ACC here, in points: (Class-IL, Task-IL).
EFFECT = {
    "read": (0.4, 0.1), "bn_mode": (33.0, 10.0), "normalisation": (6.0, 0.8),
    "budget_count": (-9.0, -0.6), "buffer_rule": (1.5, 0.2), "saliency": (7.0, 0.5),
    "write_scope": (0.5, 0.0), "recall_scope": (-4.0, -0.4), "recall": (-2.0, -0.3),
    "stored": (0.3, 0.0), "forget": (1.0, 0.2),
}  # fmt: skip
START = {"cifar10": (28.0, 84.0), "cifar100": (14.0, 81.0)}
DENSE, PLUS = "dense", "bayes_pcn-t0.8"


def layout(
    switches: tuple[tuple[str, str, str], ...] = SWITCHES,
    datasets: tuple[str, ...] = ("cifar10", "cifar100"),
    methods: tuple[str, ...] = ("er", "gem"),
    seeds: int = 5,
) -> dict[str, Any]:
    """The plan of the ladder, as the workflow would pass it."""
    rungs = [{"number": 0, "switch": None, "before": None, "after": None}]
    for number, (switch, before, after) in enumerate(switches, start=1):
        rungs.append({"number": number, "switch": switch, "before": before, "after": after})
    cells = []
    for dataset, method, variant in product(datasets, methods, (DENSE, PLUS)):
        runs_from = 0
        for rung in rungs:
            if variant != DENSE or rung["switch"] in READ_BY_ALL:
                runs_from = rung["number"]
            cells.append({"rung": rung["number"], "runs_from": runs_from, "dataset": dataset,
                          "method": method, "variant": variant})  # fmt: skip
    return {
        "suite": "ladder", "buffer": 200, "theta": 0.8, "memory": "bayes_pcn",
        "seeds": list(range(seeds)), "backbone": "efficientnet_lite0",
        "part": {"train_images": 5000, "test_images": 500}, "rungs": rungs, "cells": cells,
    }  # fmt: skip


def record(plan: dict[str, Any], cell: dict[str, Any], seed: int, acc: dict[str, float]) -> Any:
    """A record whose ACC is `acc` of each scenario: every task ends at that accuracy."""
    tasks, plus = TASKS[cell["dataset"]], cell["variant"] != DENSE
    return {
        "schema": 1, "rung": cell["runs_from"], "dataset": cell["dataset"],
        "backbone": plan["backbone"], "method": cell["method"], "variant": cell["variant"],
        "memory": plan["memory"] if plus else None, "theta": plan["theta"] if plus else None,
        "buffer": plan["buffer"], "seed": seed, "status": "ok", "message": None,
        "accuracy": {
            name: [[value] * (t + 1) + [None] * (tasks - t - 1) for t in range(tasks)]
            for name, value in acc.items()
        },
    }  # fmt: skip


def path_of(root: Path, made: dict[str, Any]) -> Path:
    return root / f"rung{made['rung']:02d}" / relative_path(made)


def _acc(cell: dict[str, Any], seed: int) -> dict[str, float]:
    numbers = [seed, cell["runs_from"], *cell["method"].encode(), len(cell["variant"])]
    order = np.random.default_rng([seed, TASKS[cell["dataset"]]])
    own = np.random.default_rng(numbers)
    found = {}
    for column, name in enumerate(("class_il", "task_il")):
        value = START[cell["dataset"]][column] + (1.5, 0.4)[column] * order.normal()
        value += 2.0 * (cell["method"] == "gem") + (1.2, 0.5)[column] * (cell["variant"] != DENSE)
        for switch, _, _ in SWITCHES[: cell["runs_from"]]:
            if cell["variant"] != DENSE or switch in READ_BY_ALL:
                value += EFFECT[switch][column]
        found[name] = float(np.clip(value + (0.8, 0.25)[column] * own.normal(), 1, 99))
    return found


def write(root: Path, plan: dict[str, Any]) -> list[Path]:
    """Write a record for each run of the plan that is made at its own rung."""
    paths = []
    for cell, seed in product(plan["cells"], plan["seeds"]):
        if cell["runs_from"] == cell["rung"]:
            made = record(plan, cell, seed, _acc(cell, seed))
            paths.append(path_of(root, made))
            write_json(paths[-1], made)
    return paths


TWO = (("bn_mode", "train", "eval"), ("saliency", "relu_ge", "abs_gt"))
SMALL = layout(TWO, datasets=("cifar10",), methods=("er",), seeds=3)
FIVE = SMALL | {"seeds": list(range(5))}  # as many seeds as decide an effect
# Class-IL ACC by (rung it was made at, variant), one number per seed.
WORKED = {
    (0, "dense"): (20.0, 24.0, 31.0, 25.0, 25.0),
    (1, "dense"): (50.0, 55.0, 60.0, 55.0, 55.0),  # paired: +30, +31, +29, +30, +30
    (0, "bayes_pcn-t0.8"): (30.0, 30.0, 30.0, 30.0, 30.0),
    (1, "bayes_pcn-t0.8"): (40.0, 40.0, 40.0, 40.0, 40.0),  # +10 for every seed
    (2, "bayes_pcn-t0.8"): (41.0, 39.0, 40.0, 40.0, 40.0),  # +1, -1, 0, 0, 0
}


def worked(root: Path, plan: dict[str, Any] = SMALL, **changes: Any) -> list[Path]:
    """The records of WORKED for the plan's seeds; `changes` alter seed 2 of rung 1's base."""
    paths = []
    for cell in plan["cells"]:
        if cell["runs_from"] != cell["rung"]:
            continue
        numbers = WORKED[cell["rung"], cell["variant"]]
        for seed, value in zip(plan["seeds"], numbers, strict=False):
            made = record(plan, cell, seed, {"class_il": value, "task_il": 90.0})
            if (cell["rung"], cell["variant"], seed) == (1, "dense", 2):
                made |= changes
            paths.append(path_of(root, made))
            write_json(paths[-1], made)
    return paths


def frame_of(paths: list[Path], plan: dict[str, Any] = SMALL) -> pd.DataFrame:
    """The rows of a small ladder."""
    shape = LadderPlan.of(plan)
    return rows.table(rows.scores(paths, shape), shape, Paper(PAPER))


@cache
def built() -> Path:
    """The whole ladder, built once per test process."""
    root = Path(mkdtemp(prefix="sharc-ladder-"))
    ladder.build(write(root / "runs", layout()), PAPER, root / "ladder", layout=layout())
    return root / "ladder"
