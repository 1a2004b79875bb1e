"""The suite `paper` where the internet is out of reach: planned in full, and refused as a whole."""

import re
import shutil
from pathlib import Path

import pytest
from project import ROOT, Project, clone

from sharc.config import load_params
from sharc.pipeline import load_graph

pytestmark = pytest.mark.slow
PAPER = ("--config", "suite=paper")
CLOSED = "http://127.0.0.1:9"  # nobody listens there
OFFLINE = {"http_proxy": CLOSED, "https_proxy": CLOSED, "no_proxy": "", "SHARC_MIRROR": ""}


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    project = clone(tmp_path / "sharc")
    shutil.copy2(ROOT / "params.yaml", project.folder)  # the real suites again
    return project


def test_a_dry_run_plans_its_whole_grid(fresh: Project):
    output = fresh.snakemake("--dry-run", *PAPER)
    planned = re.search(r"^total\s+(\d+)$", output, flags=re.MULTILINE)
    jobs = load_graph("paper").jobs
    assert planned and int(planned[1]) == len(jobs) + 1  # and `all` itself


def test_without_the_internet_each_download_says_what_to_do_and_nothing_is_left(fresh: Project):
    output = fresh.run("snakemake", "--cores", "2", "all", *PAPER, code=1, env=OFFLINE)
    for dataset in load_params(suite="paper").suites["paper"].datasets:
        message = fresh.text(f"outputs/logs/download/{dataset}.log")
        assert message.startswith(f"download:{dataset}: ")
        assert "cannot be reached" in message or "folder" in message
        assert message.splitlines()[0] in output
    ours = ("data/paper", "data/external", "outputs/logs")
    made = {p.relative_to(fresh.folder) for name in ("data", "outputs")
            for p in (fresh.folder / name).rglob("*") if p.is_file()}  # fmt: skip
    assert {
        p for p in made if not any(map(p.is_relative_to, ours)) and p.name != ".gitkeep"
    } == set()
