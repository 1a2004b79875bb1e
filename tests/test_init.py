"""`sharc init` writes a whole project or nothing."""

import errno
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from sharc import registry
from sharc.cli import app, project
from sharc.cli.project import init_project
from sharc.config import load_params
from sharc.errors import UserError

ROOT = Path(__file__).parents[1]


def files(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_a_new_project_holds_the_files_of_a_clone_that_are_not_code(tmp_path: Path):
    folder = tmp_path / "new" / "project"
    names = init_project(folder)
    assert files(folder) == set(names)
    assert {Path("Snakefile"), Path("dvc.yaml"), Path("data/paper/results.csv")} <= set(names)
    same = set(names) - {Path("requirements.txt"), Path("dvc.yaml")}
    assert all((folder / name).read_bytes() == (ROOT / name).read_bytes() for name in same)
    assert load_params(folder / "params.yaml") == load_params(ROOT / "params.yaml")


def test_dvc_watches_the_required_version_in_place_of_the_source(tmp_path: Path):
    init_project(tmp_path)
    assert (tmp_path / "requirements.txt").read_text() == f"sharc=={version('sharc')}\n"
    stages, ours = (
        yaml.safe_load((root / "dvc.yaml").read_text())["stages"] for root in (tmp_path, ROOT)
    )
    assert "src/sharc" in ours["train"]["deps"]
    assert stages["train"]["deps"] == [
        "requirements.txt" if name == "src/sharc" else name for name in ours["train"]["deps"]
    ]


def test_whatever_dvc_watches_and_no_stage_makes_is_there(tmp_path: Path):
    init_project(tmp_path)
    stages = yaml.safe_load((tmp_path / "dvc.yaml").read_text())["stages"].values()
    made = {name for stage in stages for out in stage.get("outs", []) for name in out}
    watched = {name for stage in stages for name in stage.get("deps", [])} - made
    assert {"own", "data/paper"} <= watched
    assert [name for name in watched if not (tmp_path / name).exists()] == []


def test_every_file_that_the_snakefile_names_comes_along(tmp_path: Path):
    init_project(tmp_path)
    for caption in (ROOT / "docs/captions").iterdir():
        assert caption.name in (ROOT / "Snakefile").read_text()
        assert (tmp_path / "docs/captions" / caption.name).is_file()


def test_a_clones_own_files_come_along_with_the_params_yaml_that_names_them(
    tmp_path: Path, monkeypatch
):
    clone = tmp_path / "clone"
    init_project(clone)
    shutil.copy(ROOT / "pyproject.toml", clone)
    (clone / "own/deeper").mkdir()
    (clone / "own/mine.py").write_text("from sharc.strategies.er import ER\n\nclass Mine(ER): ...")
    (clone / "own/deeper/helper.py").write_text("")
    text = (clone / "params.yaml").read_text()
    changed = text.replace("  agem: {}", "  mine: {class: own/mine.py:Mine}\n  agem: {}", 1)
    (clone / "params.yaml").write_text(changed)
    monkeypatch.setattr(project, "PACKAGE", clone / "src" / "sharc")
    init_project(tmp_path / "new")
    assert (tmp_path / "new/own/deeper/helper.py").is_file()
    assert load_params(tmp_path / "new/params.yaml").methods.mine == {}
    registry.adopt({})
    said = CliRunner().invoke(app, ["init", str(tmp_path / "newer")]).output
    assert f"Copied params.yaml and own/ from {clone} as they are there." in said


def test_a_folder_with_other_files_is_welcome(tmp_path: Path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    init_project(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".sharc-init-*"))


def test_nothing_is_overwritten(tmp_path: Path):
    (tmp_path / "params.yaml").write_text("mine")
    with pytest.raises(UserError, match=r"already holds params\.yaml: nothing was written"):
        init_project(tmp_path)
    assert files(tmp_path) == {Path("params.yaml")}
    with pytest.raises(UserError, match=r"params\.yaml is a file\. Name a folder"):
        init_project(tmp_path / "params.yaml")


def test_a_copy_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch):
    written: list[Path] = []

    def write(path: Path, _: bytes) -> None:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        path.touch()

    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(UserError, match="the disk is full"):
        init_project(tmp_path / "project")
    assert files(tmp_path) == set()


def test_a_wheels_own_copy_comes_first(tmp_path: Path, monkeypatch):
    shipped = tmp_path / "shipped"
    (shipped / "profiles").mkdir(parents=True)
    (shipped / "profiles" / "one.yaml").write_text("a: 1")
    (shipped / "dvc.yaml").write_text("stages: {}")
    monkeypatch.setattr(project, "SHIPPED", shipped)
    expected = ["dvc.yaml", "profiles/one.yaml", "requirements.txt"]
    assert init_project(tmp_path / "project") == [Path(name) for name in expected]
