"""The committed results come out again: a small part of them, from the mirror to the numbers."""

import csv
from pathlib import Path

import pytest
from project import ROOT, clone

from mirror_folder import mirror

COMMITTED = ROOT / "results/offline/summary.csv"
CELL = ("dataset", "method", "variant", "buffer", "scenario")
POINTS = 0.5  # another processor rounds otherwise; over five seeds the mean moves less than this


def accuracies(path: Path) -> dict[tuple[str, ...], float]:
    with path.open(encoding="utf-8", newline="") as lines:
        return {
            tuple(row[name] for name in CELL): float(row["acc_mean"])
            for row in csv.DictReader(lines)
        }


@pytest.mark.slow
def test_a_fresh_part_of_the_offline_suite_gives_the_committed_accuracies(tmp_path: Path):
    folder = mirror()
    if folder is None:
        pytest.skip("no mirror folder: set SHARC_MIRROR to one that holds mini_imagenet")
    project = clone(tmp_path / "sharc")
    (project.folder / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    project.set(suites__offline__datasets=["mini_imagenet"], suites__offline__buffers=[200])
    project.set(suites__offline__methods=["sgd", "er"], suites__offline__appendix_buffers=[])
    project.set(suite="offline", sharc__theta={"task_il": 0.8, "class_il": 0.8})
    for block in ("memories", "thetas", "figure1", "ladder"):
        project.set(**{f"suites__offline__{block}": None})
    project.run(
        *("snakemake", "--cores", "2", "all_collect"), env={"SHARC_MIRROR": str(folder.resolve())}
    )
    fresh = accuracies(project.folder / "outputs/results/summary.csv")
    committed = accuracies(COMMITTED)
    assert {cell[1:3] for cell in fresh} == {
        ("sgd", "dense"),
        ("er", "dense"),
        ("er", "bayes_pcn-t0.8"),
    }
    for cell, accuracy in fresh.items():
        assert accuracy == pytest.approx(committed[cell], abs=POINTS), cell
