"""A byte flipped in, or the tail cut off, any artifact: noticed, named, rebuilt, nothing else."""

import os
import random
import re
from pathlib import Path

import pytest
from project import Project, built

from sharc.artifacts.receipts import read_receipt
from sharc.entry.dvc import outs

pytestmark = pytest.mark.slow
LITE0 = "digits/efficientnet_lite0"
KINDS = {  # kind: (artifact, the job that makes it)
    "raw": ("data/raw/digits/train.safetensors", "download:digits"),
    "split": ("data/splits/digits.json", "split:digits"),
    "features": (f"outputs/features/{LITE0}/train-view0-0000.safetensors", f"features:{LITE0}"),
    "run": (f"outputs/runs/{LITE0}/er/dense/b50/seed1.json", f"train:{LITE0}/er/dense"),
    "figure1": ("outputs/figure1/digits/figure1.json", "figure1:digits"),
    "results": ("outputs/results/summary.csv", "collect:all"),
}


def flip(path: Path, chance: random.Random) -> None:
    """Flip one bit of one byte and set the modification time back, as a failing disk would."""
    times = path.stat()
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def cut(path: Path, chance: random.Random) -> None:
    """Lose the tail, as a crash without a journal would."""
    os.truncate(path, chance.randrange(path.stat().st_size))


@pytest.mark.parametrize(  # together where none is made from another: only the first is named
    "kinds", [("raw",), ("split", "features", "figure1"), ("run",), ("results",)], ids=" ".join
)
def test_flipped_bytes_are_named_and_exactly_their_jobs_are_built_again(
    finished: Project, project: Project, kinds: tuple[str, ...]
):
    flipped = dict(KINDS[kind] for kind in kinds)
    for artifact in flipped:
        flip(project.folder / artifact, random.Random(artifact))
        (project.folder / artifact).touch()  # DVC looks at times first
    status = project.run("dvc", "status")
    for job in flipped.values():
        assert re.search(rf"modified:\s+{outs(job.partition(':')[0])[0]}$", status, re.MULTILINE)
    output = project.snakemake()
    for artifact in flipped:
        assert f"{artifact} was modified since it was built: it will be rebuilt." in output
    assert built(output) == set(flipped.values())
    assert project.results() == finished.results()
    assert "up to date" in project.run("dvc", "status")


def test_cut_tails_of_every_kind_and_a_flipped_receipt_are_repaired_in_one_build(
    finished: Project, project: Project
):
    for artifact, _ in KINDS.values():
        cut(project.folder / artifact, random.Random(artifact))
    flip(project.folder / "outputs/figures/receipt.json", random.Random(8))
    output = project.snakemake()
    assert f"{KINDS['raw'][0]} was modified" in output
    assert built(output) == {job for _, job in KINDS.values()} | {"figures:all"}
    assert project.results() == finished.results()


def test_every_artifact_is_guarded_against_flips_cuts_and_loss(
    project: Project, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(project.folder)
    chance, tried = random.Random(8), 0
    for receipt in filter(None, map(read_receipt, Path().rglob("*receipt.json"))):
        for name in receipt.outputs:
            whole = Path(name).read_bytes()
            for harm in (flip, flip, flip, cut):
                harm(Path(name), chance)
                assert receipt.first_mismatch() == f"{name} was modified"
                Path(name).write_bytes(whole)
                tried += 1
            Path(name).unlink()
            assert receipt.first_mismatch() == f"{name} is missing"
            Path(name).write_bytes(whole)
            assert receipt.first_mismatch() is None
    assert tried > 200
    print(f"{tried} flips and cuts, all noticed")
