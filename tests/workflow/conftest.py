"""One build serves many tests: it is made once and copied."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from forks import Forks
from project import Project, clone


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """What makes the commands of a project forks, which saves most of what a short one costs."""
    server = Forks(tmp_path_factory.mktemp("forks"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str, forks: Forks) -> Project:
    """A clone whose small suite was built by Snakemake and committed with its DVC lock.

    Whichever worker of pytest comes first builds it, in separate processes; each has a copy.
    """
    folder = tmp_path_factory.getbasetemp()
    folder = (folder if worker_id == "master" else folder.parent) / "finished"
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            project = clone(folder.with_name("unfinished") / "sharc")
            project.snakemake()
            project.commit("built")
            project.folder.rename(folder)
    copied = Project(folder).copied(tmp_path_factory.mktemp("finished") / "sharc")
    return forks.project(copied.folder)


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A finished clone of the test's own."""
    return finished.copied(tmp_path / "sharc")


@pytest.fixture
def separate(project: Project) -> Project:
    """The same with commands that are separate processes, as a user's are."""
    return Project(project.folder)
