"""While it runs, a job uses no code and reads no file but what it declares.

Each job's run is watched: the file of every function that is called (a profiler), and every file
that is opened, an imported module's among them (an audit hook).
"""

import json

import pytest
from forks import Forks
from project import Project, clone

from sharc.pipeline import STAGES
from sharc.workflow.sources import BY_VALUE

pytestmark = pytest.mark.slow
METHODS = ("sgd", "joint", "er", "mer", "gem", "agem", "derpp", "clser", "er_ace", "lwf", "ewc")
LADDER = {
    "datasets": ["digits"], "buffer": 50, "methods": ["er"], "theta": 0.8,
    "train_images": 100, "test_images": 50,
}  # fmt: skip
SPECIFICATIONS = {
    "sample": 1, "seed": 0, "train_images": 100, "test_images": 50,
    "factors": {
        "rate": {"key": "train.learning_rate", "values": [0.02, "selected"], "why": "chosen"},
        "channels": {
            "key": "protocols.paper.saliency", "values": ["abs_gt", "random"], "why": "a control",
        },
    },
}  # fmt: skip
DECIDES_NOTHING = (
    *BY_VALUE,
    "sharc.class_text",  # reads for the registry; what it finds is in the key
    "sharc.artifacts.digests",  # remembers digests
)
REPORTED = (
    "outputs/provenance/"  # costs and commits, in the report as they were when it was written
)
WATCHED = '''"""Runs a job and notes which files of the project it runs or reads."""

import json
import os
import sys
import threading
from pathlib import Path


def run(job, build):
    files = set()

    def note_call(frame, event, argument):
        files.add(frame.f_code.co_filename)

    def note_open(event, given):
        if event == "open" and isinstance(given[0], (str, os.PathLike)):
            files.add(os.fspath(given[0]))

    sys.addaudithook(note_open)
    threading.setprofile(note_call)
    sys.setprofile(note_call)
    try:
        return job.run(build)
    finally:
        sys.setprofile(None)
        paths = [Path(name) for name in files if isinstance(name, str) and os.path.isfile(name)]
        own = {path.resolve() for path in paths if path.resolve().is_relative_to(Path.cwd())}
        note = Path(".sharc/watched", job.stage, f"{job.name}.json")
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps(sorted(str(path.relative_to(Path.cwd())) for path in own)))
'''


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Project:
    """A suite with jobs of every stage and runs of every method, each job watched."""
    folder = tmp_path_factory.mktemp("watched") / "sharc"
    project = forks.project(clone(folder, methods=METHODS).folder)
    project.set(suites__demo__ladder=LADDER, suites__demo__specifications=SPECIFICATIONS)
    project.set(suites__demo__select={"learning_rate": [0.02, 0.01]}, data__validation_share=0.1)
    project.set(suites__demo__seeds=[0], train__learning_rate=0.02)
    entry = folder / "src/sharc/entry/job.py"
    text = entry.read_text()
    watching = text.replace("job.run(Build(", "watched.run(job, Build(")
    assert watching != text
    entry.write_text(
        watching.replace(
            "import argparse\n", "import argparse\n\nfrom sharc.entry import watched\n"
        )
    )
    entry.with_name("watched.py").write_text(WATCHED)
    project.snakemake()
    return project


@pytest.mark.parametrize("stage", [stage.stage for stage in STAGES])
def test_a_job_uses_no_code_and_reads_no_file_but_what_it_declares(watched: Project, stage: str):
    notes = sorted((watched.folder / ".sharc/watched" / stage).rglob("*.json"))
    assert notes
    for note in notes:
        name = note.relative_to(watched.folder / ".sharc/watched")
        record = json.loads(watched.text(f"outputs/provenance/{name}"))
        files = set(json.loads(note.read_text()))
        assert f"src/sharc/pipeline/{stage}.py" in files
        files -= {*record["sources"], *record["inputs"], *record["outputs"]}
        if stage == "report":
            files = {file for file in files if not file.startswith(REPORTED)}
        assert [file for file in sorted(files) if not _decides_nothing(file)] == [], name


def _decides_nothing(file: str) -> bool:
    module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    return any(module == name or module.startswith(f"{name}.") for name in DECIDES_NOTHING)
