"""What contributors are asked to run is what the project runs."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def commands(target: str) -> list[str]:
    """What a target of the Makefile runs in the project's environment."""
    [block] = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    return [line.strip().removeprefix("$(ACTIVE) ") for line in block.splitlines()]


def test_pre_commit_runs_what_make_check_runs():
    assert [hook["entry"] for hook in HOOKS] == commands("check")


def test_pre_commit_checks_the_whole_project_whatever_is_committed():
    assert all(hook["always_run"] and not hook["pass_filenames"] for hook in HOOKS)
    assert all(hook["language"] == "system" for hook in HOOKS), "the versions of the lock"


def test_pre_commit_accepts_its_configuration():
    from pre_commit.clientlib import load_config

    assert load_config(str(ROOT / ".pre-commit-config.yaml"))["repos"]


def test_every_make_target_that_a_page_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        ROOT / "Dockerfile",
        ROOT / ".ci/run",
    ]
    for page in pages:
        lines = re.findall(r"(?:`|^|; |&& |\n)make ((?:[a-z-]+ ?)+)", page.read_text())
        named = {word for line in lines for word in line.split()}
        assert named <= targets, page.name


def test_the_newest_release_of_the_changelog_is_the_version_of_the_package():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest, *_ = re.findall(r"^## \[(\d.*?)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert newest == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert changelog.index("## [Unreleased]") < changelog.index(f"## [{newest}]")


def test_hadolint_has_nothing_to_say_about_the_dockerfile():
    if not shutil.which("hadolint"):
        pytest.skip("hadolint is not installed here")
    found = subprocess.run(
        ["hadolint", "--no-color", "Dockerfile"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stdout) == (0, "")


def test_the_container_has_a_python_that_the_project_supports():
    from packaging.specifiers import SpecifierSet

    [version] = re.findall(r"^FROM python:([\d.]+)-", DOCKERFILE, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert SpecifierSet(project["requires-python"]).contains(version)


def test_the_container_gets_what_git_tracks_and_nothing_that_is_built():
    ignored = (ROOT / ".dockerignore").read_text().split("\n")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    kept_out = {line.rstrip("/*") for line in ignored if line and line[0] not in "#!"}
    lost = {path for path in tracked if any(Path(path).is_relative_to(name) for name in kept_out)}
    assert lost == {"outputs/.gitkeep"}
    assert "!outputs/.gitkeep" in ignored
    assert {".venv", "outputs", "data/raw"} <= kept_out
