"""The built wheel alone, in an environment of its own: a version, a project, and a build in it."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]
ROOT = Path(__file__).parents[1]


class Installed:
    """An environment with the wheel; what the wheel depends on, it borrows from this one."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.bin = folder / "bin"
        _run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
        python = self.bin / "python"
        pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        _run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=folder.parent)
        # Only a path: the editable installation of this repository is not followed from there.
        [site] = folder.glob("lib/python*/site-packages")
        (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))

    def run(self, *words: str, cwd: Path) -> str:
        return _run(self.bin / words[0], *words[1:], cwd=cwd, path=self.bin)


def _run(*words: str | Path, cwd: Path, path: Path | None = None) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SHARC_MIRROR")}
    env["PATH"] = f"{path}:{env['PATH']}" if path else env["PATH"]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from what Git tracks, so that nothing left over gets in."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in listed:
        if (ROOT / name).is_file():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "source" / name)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    _run(*build, "--no-deps", "--no-build-isolation", "-w", folder, "./source", cwd=folder)
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed") / "env", wheel)


@pytest.fixture(scope="module")
def project(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    said = installed.run("sharc", "init", "project", cwd=folder)
    assert "project/ is ready" in said
    return folder / "project"


def test_it_is_the_wheel_that_runs(installed: Installed, project: Path):
    where = installed.run("python", "-c", "import sharc; print(sharc.__file__)", cwd=project)
    assert str(installed.bin.parent) in where


def test_the_command_says_its_version(installed: Installed, project: Path):
    version = installed.run(
        "python", "-c", "import sharc; print(sharc.__version__)", cwd=project
    ).strip()
    assert version in installed.run("sharc", "--version", cwd=project)
    assert version in installed.run("python", "-m", "sharc", "--version", cwd=project)


def test_a_new_project_is_valid_and_the_same_as_a_clones(installed: Installed, project: Path):
    assert "params.yaml is valid. Suite 'demo'" in installed.run("sharc", "validate", cwd=project)
    for name in ("Snakefile", "params.yaml", "data/paper/results.csv"):
        assert (project / name).read_bytes() == (ROOT / name).read_bytes()


def test_a_build_by_installed_code_is_current_for_a_clone(installed: Installed, project: Path):
    """Keys do not depend on where the code lies, so results can be handed on."""
    code = "from sharc.pipeline import load_graph; print(load_graph().key(job, {}))"
    code = code.replace("job", "load_graph().jobs['download:digits']")
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": os.environ["PATH"]}
    in_clone = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert installed.run("python", "-c", code, cwd=project) == in_clone


def test_a_new_project_builds_and_is_rebuilt_when_the_installed_code_changes(
    installed: Installed, project: Path
):
    def build() -> str:
        words = ["python", "-m", "snakemake", "--cores", "2", "data/splits/digits.json"]
        return installed.run(*words, cwd=project)

    build()
    first = (project / "data/splits/digits.json").stat().st_mtime_ns
    assert "Nothing to be done" in build()
    [module] = installed.bin.parent.glob("lib/python*/site-packages/sharc/stages/split.py")
    module.write_text(module.read_text() + "\nCHANGED = True\n")
    assert "Nothing to be done" not in build()
    assert (project / "data/splits/digits.json").stat().st_mtime_ns > first


def test_a_method_of_ones_own_is_started_in_a_new_project(installed: Installed, project: Path):
    assert "Wrote own/mine.py" in installed.run("sharc", "new", "method", "mine", cwd=project)
    assert "class Mine" in (project / "own/mine.py").read_text()
