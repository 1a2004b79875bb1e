"""Where results may lie: a folder, an export under results/, a commit, or a DVC experiment."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sharc.errors import UserError
from sharc.results.folder import Results

BUILT, EXPORTS = Path("outputs/results"), Path("results")
_FILES = ("runs.csv", "summary.csv")


@contextmanager
def results_of(name: str, suite: str) -> Iterator[Results]:
    """The results that `name` stands for, copied to a temporary folder if they lie in Git or DVC.

    A commit may be followed by a folder, as in `v1.0:results/offline`; without one it is the
    export of `suite`.
    """
    if folder := _folder(name):
        yield Results(folder)
        return
    with TemporaryDirectory(prefix="sharc-compare-") as copy:
        commit, _, inside = name.partition(":")
        inside = inside.strip("/") or f"{EXPORTS}/{suite}"
        if not (_from_git(commit, inside, Path(copy)) or _from_dvc(commit, Path(copy))):
            raise UserError(_nowhere(name, inside))
        yield Results(Path(copy))


def _folder(name: str) -> Path | None:
    places = (Path(name), Path(name) / BUILT, EXPORTS / name)
    return next((place for place in places if _holds_results(place)), None)


def _holds_results(folder: Path) -> bool:
    return any((folder / f"summary.csv{packed}").is_file() for packed in ("", ".gz"))


def _from_git(commit: str, inside: str, copy: Path) -> bool:
    """Write the commit's files; False if it is no commit or has none there."""
    for name in (f"{file}{packed}" for file in _FILES for packed in ("", ".gz")):
        shown = subprocess.run(
            ["git", "show", "--end-of-options", f"{commit}:{inside}/{name}"],
            capture_output=True, check=False,
        )  # fmt: skip
        if shown.returncode == 0:
            (copy / name).write_bytes(shown.stdout)
    return _holds_results(copy)


def _from_dvc(revision: str, copy: Path) -> bool:
    """Fetch what DVC versioned at a commit or an experiment; False if there is nothing."""
    try:
        from dvc.api import DVCFileSystem
        from dvc.exceptions import DvcException
        from dvc.scm import SCMError
    except ImportError:
        return False
    try:
        versioned = DVCFileSystem(".", rev=revision)
        for name in _FILES:
            versioned.get_file(f"/{BUILT.as_posix()}/{name}", str(copy / name))
    except (DvcException, SCMError, OSError):
        return False
    return _holds_results(copy)


def _nowhere(name: str, inside: str) -> str:
    exports = sorted(path.name for path in EXPORTS.glob("*") if _holds_results(path))
    return (
        f"{name!r} holds no results: it is neither a folder with a summary.csv (such as {BUILT}), "
        f"nor an export under {EXPORTS}/ ({', '.join(exports) or 'there is none'}), nor a commit "
        f"with {inside} or a DVC experiment whose {BUILT} is in the cache. A commit's folder may "
        "be named behind it, as in HEAD~1:results/demo."
    )
