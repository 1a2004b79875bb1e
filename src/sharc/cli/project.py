"""`sharc init`: a project folder for those who installed the package and cloned nothing."""

import shutil
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from sharc.artifacts.files import write_atomically
from sharc.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = PACKAGE / "project"  # in a wheel; setup.py puts it there


def init_project(folder: Path) -> list[Path]:
    """Write the pipeline's files into `folder`, all of them or none; their paths in it."""
    home, names = _project()
    _require_free(folder, names)
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".sharc-init-", dir=folder) as partial:
        for name in names:
            with write_atomically(Path(partial) / name) as path:
                shutil.copyfile(home / name, path)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(partial) / name).replace(folder / name)
    return names


def _project() -> tuple[Path, list[Path]]:
    """Where the files lie, and which they are."""
    if SHIPPED.is_dir():
        paths = [path for path in SHIPPED.rglob("*") if path.is_file()]
        return SHIPPED, sorted(path.relative_to(SHIPPED) for path in paths)
    clone = PACKAGE.parents[1]
    settings = tomllib.loads((clone / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["sharc"]["project"]
    found = {path.relative_to(clone) for pattern in patterns for path in clone.glob(pattern)}
    return clone, sorted(found)


def _require_free(folder: Path, names: list[Path]) -> None:
    """Nobody's files are overwritten."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a folder, new or without a project in it.")
    taken = [str(name) for name in names if (folder / name).exists()]
    if taken:
        raise UserError(
            f"{folder}/ already holds {', '.join(taken)}: nothing was written. "
            "Name another folder, or move these files away first."
        )
