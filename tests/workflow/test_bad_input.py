"""A user's mistake: one message, exit code 2, no traceback, nothing written."""

from pathlib import Path

import pytest
from project import Project, clone


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return clone(tmp_path_factory.mktemp("fresh") / "sharc")


def message(project: Project, *command: str) -> str:
    output = project.run(*command, code=2)
    assert "Traceback" not in output
    return output


BOTH = [("snakemake", "--cores", "1", "all"), ("sharc", "validate"), ("sharc", "grid")]


@pytest.mark.parametrize("command", BOTH)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"suite": "dmo"}, "unknown suite 'dmo'. Did you mean 'demo'?"),
        ({"suites__demo__methods": ["erx"]}, "unknown value 'erx'. Did you mean 'er'?"),
        ({"train__learning_rate": -1}, "train.learning_rate: Input should be greater than 0"),
    ],
)
def test_wrong_parameters_stop_before_the_graph_is_built(
    fresh: Project, command: tuple[str, ...], change: dict[str, object], expected: str
):
    saved = fresh.text("params.yaml")
    fresh.set(**change)
    try:
        assert expected in message(fresh, *command)
        assert not (fresh.folder / "outputs/runs").exists()
        assert not (fresh.folder / "data/raw").exists()
    finally:
        (fresh.folder / "params.yaml").write_text(saved)


def test_a_suite_on_the_command_line_is_checked_too(fresh: Project):
    output = message(fresh, "snakemake", "--cores", "1", "all", "--config", "suite=dmo")
    assert "unknown suite 'dmo'" in output


def test_a_file_where_a_folder_must_be_is_named(tmp_path: Path):
    project = clone(tmp_path / "sharc")
    (project.folder / "outputs/.gitkeep").unlink()
    (project.folder / "outputs").rmdir()
    (project.folder / "outputs").write_text("in the way")
    assert "outputs/ is not writable" in message(project, *BOTH[0])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("inspect", "outputs/runs/nothing.json"), "outputs/runs/nothing.json does not exist"),
        (("inspect", "/etc"), "outside the project"),
        (("trace", "err", "task_il", "50"), "unknown method 'err'. Did you mean 'er'?"),
        (("trace", "er", "task", "50"), "unknown scenario 'task'. Did you mean 'task_il'?"),
        (("trace", "er", "task_il", "7"), "has no cell er on digits with buffer 7"),
    ],
)
def test_the_command_line_explains_what_it_cannot_find(
    fresh: Project, words: tuple[str, ...], expected: str
):
    assert expected in message(fresh, "sharc", *words)
