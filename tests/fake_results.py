"""Collected results of a faked demo grid, made once per test process."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from safetensors.numpy import save_file

import fake_runs
from sharc.artifacts.files import write_json
from sharc.figure1.corruptions import LEVELS
from sharc.stages import claims, collect, figures, report, tables
from sharc.stages.figure1 import SHOWN

DATA = Path(__file__).parents[1] / "data" / "paper"
PAPER, CLAIMS = DATA / "results.csv", DATA / "claims.yaml"
DEMO = fake_runs.Grid(memories=("bayes_pcn", "modern_hopfield"))
# The paper's own names, few seeds and methods: enough to compare with its numbers.
SMALL = fake_runs.Grid(
    datasets=("cifar10", "mini_imagenet"), buffers=(200, 500), seeds=3, figure_methods=(),
    methods=("joint", "sgd", "er", "derpp"),
)  # fmt: skip
SMALL_LAYOUT: dict[str, Any] = fake_runs.LAYOUT | {
    "main": [200], "appendix": [500], "datasets": list(SMALL.datasets),
    "methods": list(SMALL.methods),
}  # fmt: skip
PROVENANCE = {"commit": "0123abc", "data": {"digits": {"sha256": "feed"}}, "versions": {"x": "1"}}
COSTS = [{"stage": "train", "jobs": 3, "seconds": 90.0, "cpu_hours": 0.5, "peak_mb": 800.0}]


@dataclass(frozen=True)
class Made:
    """A folder with everything built so far, and its layout."""

    root: Path
    layout: dict[str, Any]

    @property
    def results(self) -> Path:
        return self.root / "results"


def collected(grid: fake_runs.Grid, layout: dict[str, Any], root: Path) -> Made:
    paths, expected = fake_runs.write(root / "runs", grid)
    collect.build(paths, expected, root / "results", joint_bwt="not_applicable")
    return Made(root, layout)


@cache
def demo() -> Made:
    return collected(DEMO, fake_runs.LAYOUT, Path(mkdtemp(prefix="sharc-demo-")))


@cache
def small() -> Made:
    return collected(SMALL, SMALL_LAYOUT, Path(mkdtemp(prefix="sharc-small-")))


@cache
def whole() -> Made:
    """The demo with tables, figures, claims and report."""
    made = demo()
    root, layout = made.root, made.layout
    tables.build(made.results, PAPER, root / "tables", layout=layout)
    figures.build(made.results, PAPER, figure1(root), root / "figures", layout=layout)
    claims.build(
        made.results, CLAIMS, PAPER, figure1(root), root / "claims.json", root / "claims.md",
        layout=layout,
    )  # fmt: skip
    write_report(made, root / "report.html", costs=COSTS)
    return made


def write_report(made: Made, out: Path, **more: Any) -> None:
    root = made.root
    report.build(
        made.results, root / "tables", root / "figures", root / "claims.json", out,
        layout=made.layout, suite={"suite": "demo"}, provenance=PROVENANCE, **more,
    )  # fmt: skip


def figure1(root: Path) -> Path:
    """Random images, and errors that favour the memory on stored images only."""
    folder = root / "figure1"
    folder.mkdir(exist_ok=True)
    shape = (len(SHOWN), 8, 8, 3)
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    names = ("original", "query", "inpainted", "recalled")
    save_file(dict.fromkeys(names, image), folder / "examples.safetensors")
    rows = [
        {"corruption": name, "level": level, "stored": stored,
         "hopfield": {"mse": 0.001 if stored else 0.5, "recall_rate": float(stored)},
         "inpainter": {"mse": 0.01 if stored else 0.2, "recall_rate": 0.0}}
        for stored in (True, False)
        for name, levels in LEVELS.items()
        for level in levels
    ]  # fmt: skip
    content = {
        "images": 100, "floats": {"hopfield": 19200, "inpainter": 19539},
        "recalled_below": 0.005, "scale": [-1, 1], "rows": rows,
        "examples": [{"corruption": name, "level": level} for name, level in SHOWN],
    }  # fmt: skip
    write_json(folder / "figure1.json", content)
    return folder
