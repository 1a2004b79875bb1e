"""Where results can be: a folder, an export under results/, a commit, or a DVC experiment."""

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sharc.errors import UserError
from sharc.results.folder import Results

BUILT, EXPORTS = Path("outputs/results"), Path("results")
_FILES = ("runs.csv", "summary.csv")


@contextmanager
def results_of(name: str, suite: str) -> Iterator[Results]:
    """The results that `name` stands for, copied to a temporary folder if they are in Git or DVC.

    A commit may be followed by a folder, as in `v1.0:results/offline`; without one it is the
    export of `suite`.
    """
    if folder := _folder(name):
        yield Results(folder)
        return
    with TemporaryDirectory(prefix="sharc-compare-") as copy:
        revision, _, inside = name.partition(":")
        inside, out = inside.strip("/") or f"{EXPORTS}/{suite}", Path(copy)
        commit = _commit(revision)
        if not (commit and (_from_git(commit, inside, out) or _from_dvc(commit, out))):
            raise UserError(_not_found(name, inside))
        yield Results(Path(copy))


def _folder(name: str) -> Path | None:
    candidates = (Path(name), Path(name) / BUILT, EXPORTS / name)
    return next((folder for folder in candidates if _holds_results(folder)), None)


def _holds_results(folder: Path) -> bool:
    return any((folder / f"summary.csv{packed}").is_file() for packed in ("", ".gz"))


def _commit(revision: str) -> str | None:
    """The commit that a revision or an experiment of DVC's names."""
    found = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found is None and revision:
        experiments = (_git("for-each-ref", "--format=%(refname)", "refs/exps") or b"").decode()
        names = [name for name in experiments.split() if name.endswith(f"/{revision}")]
        found = _git("rev-parse", names[0]) if names else None
    return found.decode().strip() if found else None


def _git(*words: str) -> bytes | None:
    done = subprocess.run(["git", *words], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _from_git(commit: str, inside: str, copy: Path) -> bool:
    """Write the commit's files; False if it has none there."""
    for name in (f"{file}{packed}" for file in _FILES for packed in ("", ".gz")):
        if (content := _git("show", f"{commit}:{inside}/{name}")) is not None:
            (copy / name).write_bytes(content)
    return _holds_results(copy)


def _from_dvc(commit: str, copy: Path) -> bool:
    """Fetch what DVC versioned at a commit; False if there is nothing."""
    from dvc.api import DVCFileSystem
    from dvc.exceptions import DvcException

    try:
        with closing(DVCFileSystem(".", rev=commit)) as versioned:
            for name in _FILES:
                versioned.get_file(f"/{BUILT.as_posix()}/{name}", str(copy / name))
    except (DvcException, OSError):
        return False
    return _holds_results(copy)


def _not_found(name: str, inside: str) -> str:
    exports = sorted(path.name for path in EXPORTS.glob("*") if _holds_results(path))
    return (
        f"{name!r} holds no results: it is neither a folder with a summary.csv (such as {BUILT}), "
        f"nor an export under {EXPORTS}/ ({', '.join(exports) or 'there is none'}), nor a commit "
        f"with {inside} or a DVC experiment whose {BUILT} is in the cache. A commit's folder may "
        "follow it, as in HEAD~1:results/demo."
    )
