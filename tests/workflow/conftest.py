"""One build serves many tests: it is made once and copied."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from project import Project, clone


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A clone whose small suite was built by Snakemake and committed with its DVC lock."""
    project = clone(tmp_path_factory.mktemp("finished") / "sharc")
    project.snakemake()
    project.commit("built")
    return project


@pytest.fixture
def copy_of(tmp_path: Path) -> Callable[[Project], Project]:
    """Copy a clone with everything in it, times included."""

    def copy(project: Project) -> Project:
        target = tmp_path / "sharc"
        shutil.copytree(project.folder, target, symlinks=True)
        return Project(target)

    return copy


@pytest.fixture
def project(finished: Project, copy_of: Callable[[Project], Project]) -> Project:
    """A finished clone of the test's own."""
    return copy_of(finished)
