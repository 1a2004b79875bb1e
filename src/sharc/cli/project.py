"""`sharc init`: a project folder for those who installed the package and cloned nothing."""

import tomllib
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from sharc.artifacts.files import write_atomically
from sharc.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
REQUIREMENTS, STAGES = Path("requirements.txt"), Path("dvc.yaml")
SHIPPED = PACKAGE / "project"  # in a wheel; setup.py puts it there


def init_project(folder: Path) -> list[Path]:
    """Write the pipeline's files into `folder`, all of them or none; their paths in it."""
    contents = _contents()
    _require_free(folder, list(contents))
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".sharc-init-", dir=folder) as partial:
        for name, content in contents.items():
            with write_atomically(Path(partial) / name) as path:
                path.write_bytes(content)
        for name in contents:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(partial) / name).replace(folder / name)
    return list(contents)


def _contents() -> dict[Path, bytes]:
    """The files of a clone that are not code, and the version of the code in its place.

    A clone's dvc.yaml watches src/sharc; here it watches the required version. Snakemake's jobs
    look at each installed module, so another version re-runs only what it does differently.
    """
    home, names = _project()
    contents = {name: (home / name).read_bytes() for name in names}
    contents[STAGES] = contents[STAGES].replace(b"src/sharc", bytes(REQUIREMENTS))
    contents[REQUIREMENTS] = f"sharc=={version('sharc')}\n".encode()
    return dict(sorted(contents.items()))


def _project() -> tuple[Path, list[Path]]:
    """Where the files are, and which they are."""
    if SHIPPED.is_dir():
        paths = [path for path in SHIPPED.rglob("*") if path.is_file()]
        return SHIPPED, [path.relative_to(SHIPPED) for path in paths]
    clone = PACKAGE.parents[1]
    settings = tomllib.loads((clone / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["sharc"]["project"]
    return clone, [path.relative_to(clone) for pattern in patterns for path in clone.glob(pattern)]


def source() -> Path:
    """Where a new project's files come from: the package, or the clone it is used from."""
    return _project()[0]


def _require_free(folder: Path, names: list[Path]) -> None:
    """Refuse to overwrite anything."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a folder, new or without a project in it.")
    taken = [str(name) for name in names if (folder / name).exists()]
    if taken:
        raise UserError(
            f"{folder}/ already holds {', '.join(taken)}: nothing was written. "
            "Name another folder, or move these files away first."
        )
