"""A plausible grid of run records made from formulas: for tests of what comes after training."""

from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sharc.artifacts.files import digest_of, write_json

CLASSES = {"digits": 10, "cifar10": 10, "cifar100": 100, "mini_imagenet": 100}
TASKS = {"digits": 5, "cifar10": 5, "cifar100": 20, "mini_imagenet": 20}
LEVEL = {"sgd": 0.0, "agem": 0.05, "gem": 0.4, "er": 0.55, "mer": 0.45, "derpp": 0.5, "clser": 0.6}
FIX = {"modern_hopfield": 0.9, "bayes_pcn": 0.6, "pcn": 0.3, "hopfield": -0.2, "mean": 0.1}
LAYOUT: dict[str, Any] = {
    "main": [50, 200],
    "appendix": [],
    "datasets": ["digits"],
    "methods": ["joint", "sgd", "gem", "agem", "er", "mer", "derpp", "clser"],
    "theta": {"task_il": 0.8, "class_il": 0.5},
    "memory": "bayes_pcn",
}


@dataclass(frozen=True)
class Grid:
    """What to fake; the default is a demo suite."""

    datasets: tuple[str, ...] = ("digits",)
    buffers: tuple[int, ...] = (50, 200)
    seeds: int = 5
    backbone: str = "efficientnet_lite0"
    methods: tuple[str, ...] = tuple(LAYOUT["methods"])
    thetas: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
    memories: tuple[str, ...] = tuple(FIX)
    figure_methods: tuple[str, ...] = field(default=("gem", "er"))


def expected(grid: Grid) -> list[dict[str, Any]]:
    """Every run of the grid, each once."""
    cells: dict[tuple[Any, ...], None] = {}
    plus = [("bayes_pcn", 0.5), ("bayes_pcn", 0.8)]
    for dataset, method in product(grid.datasets, grid.methods):
        if method in ("joint", "sgd"):
            cells[dataset, method, None, None, 0] = None
            continue
        for (memory, theta), buffer in product([(None, None), *plus], grid.buffers):
            cells[dataset, method, memory, theta, buffer] = None
    shown = grid.datasets[min(1, len(grid.datasets) - 1)]
    for method in grid.figure_methods:
        for memory, theta in product(grid.memories, (0.5, 0.8)):
            cells[shown, method, memory, theta, grid.buffers[0]] = None
        for theta in grid.thetas:
            cells[shown, method, "bayes_pcn", theta, grid.buffers[0]] = None
    return [_identity(grid, *cell, seed) for cell in cells for seed in range(grid.seeds)]


def _identity(
    grid: Grid, dataset: str, method: str, memory: str | None, theta: float | None,
    buffer: int, seed: int,
) -> dict[str, Any]:  # fmt: skip
    variant = "dense" if memory is None else f"{memory}-t{theta:g}"
    return {
        "dataset": dataset, "backbone": grid.backbone, "method": method, "variant": variant,
        "memory": memory, "theta": theta, "buffer": buffer, "seed": seed,
    }  # fmt: skip


def path_of(root: Path, run: dict[str, Any]) -> Path:
    folder = root / run["dataset"] / run["backbone"] / run["method"] / run["variant"]
    return folder / f"b{run['buffer']}" / f"seed{run['seed']}.json"


def _hold(run: dict[str, Any]) -> float:
    """How much of a past task is kept, 0..1: more with buffer, less far from a best theta."""
    hold = LEVEL.get(run["method"], 1.0) * (1 + 0.12 * np.log10(max(run["buffer"], 1) / 100))
    if run["memory"] is not None:
        hold += 0.12 * FIX[run["memory"]] * (1 - 2 * abs(run["theta"] - 0.7))
    return float(min(hold, 0.95))


def _accuracy(run: dict[str, Any], tasks: int, chance: float, fall: float) -> list[Any]:
    noise = np.random.default_rng([run["seed"], int(1000 * chance), tasks])
    own = np.random.default_rng([run["seed"], *digest_of(run).encode()[:6]])
    matrix = []
    for t in range(tasks):
        ages = np.arange(t, -1, -1)
        value = 96 - 8 * noise.random(t + 1) - (1 - _hold(run)) * fall * (1 - 0.8**ages)
        value = np.clip(value + own.normal(0, 1.0, t + 1), 100 * chance, 100)
        matrix.append([round(float(v), 4) for v in value] + [None] * (tasks - t - 1))
    if run["method"] == "joint":
        matrix[:-1] = [[None] * tasks for _ in range(tasks - 1)]
    return matrix


def _ledger(run: dict[str, Any], width: int = 512 * 49) -> dict[str, Any]:
    if run["buffer"] == 0:
        return {"items": 0, "parts": {}, "counted_floats": 0, "total_bytes": 0}
    kept = 1.0 if run["memory"] is None else max(1 - run["theta"], 1 / 512)
    items = int(run["buffer"] / max(kept, 0.02))
    floats = {"values": int(items * kept * width)}
    if run["memory"] is not None:
        patterns = items if run["memory"] == "modern_hopfield" else 256
        floats |= {"indices": int(items * kept * 512 / 4), "memory_weights": patterns * width}
    parts = {name: {"floats": n, "bytes": 4 * n} for name, n in floats.items()}
    parts["labels"] = {"floats": 0, "bytes": items}
    return {
        "items": items, "parts": parts, "counted_floats": floats["values"],
        "total_bytes": sum(part["bytes"] for part in parts.values()),
    }  # fmt: skip


def _recall(run: dict[str, Any], tasks: int) -> list[dict[str, Any]]:
    if run["memory"] is None:
        return []
    own = np.random.default_rng([run["seed"], *digest_of(run).encode()[:6]])
    entries = []
    for after, task in product(range(tasks), range(tasks)):
        if after <= task:
            continue
        age = after - task
        zero = 0.3 + 0.5 * run["theta"]
        share = (1 - FIX[run["memory"]]) * min(0.2 + 0.1 * age, 1.0)
        entries.append({
            "task": task, "after": after, "age": age, "items": 20, "zero_fill_mse": zero,
            "mean_fill_mse": 0.4 * zero, "mse": float(zero * share * own.uniform(0.9, 1.1)),
            "accuracy": 90.0 - 3 * age,
        })  # fmt: skip
    return entries


def record(run: dict[str, Any]) -> dict[str, Any]:
    """A whole record of one run."""
    tasks, classes = TASKS[run["dataset"]], CLASSES[run["dataset"]]
    accuracy = {
        "class_il": _accuracy(run, tasks, 1 / classes, 110.0),
        "task_il": _accuracy(run, tasks, tasks / classes, 14.0),
    }
    heads = {}
    if run["method"] == "clser":
        heads = {"working": accuracy, "plastic": accuracy}
    return {
        "schema": 1, **run, "status": "ok", "message": None,
        "tasks": tasks, "classes": classes, "accuracy": accuracy,
        "untrained": {
            "class_il": [100 / classes] * tasks, "task_il": [100 * tasks / classes] * tasks,
        },
        "heads": heads, "ledger": _ledger(run), "recall": _recall(run, tasks),
        "params": {"lr": 0.1, "batch": 10, "method": {"name": run["method"]}},
    }  # fmt: skip


def write(root: Path, grid: Grid) -> tuple[list[Path], list[dict[str, Any]]]:
    """Write every record of the grid below `root`; return their paths and the expected runs."""
    runs = expected(grid)
    for run in runs:
        write_json(path_of(root, run), record(run))
    return [path_of(root, run) for run in runs], runs
