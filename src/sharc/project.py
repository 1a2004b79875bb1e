"""The project that Python works in, and its parameters."""

from pathlib import Path

from sharc.config import Params
from sharc.config import load_params as read_params
from sharc.errors import UserError

PARAMS = "params.yaml"


def find_project(folder: Path | str | None = None) -> Path:
    """The project that `folder` belongs to: it or the nearest folder above with a params.yaml.

    Without `folder`, the search starts where Python runs, so a notebook may be anywhere in it.
    """
    start = Path(folder or Path.cwd()).resolve()
    for candidate in (start, *start.parents):
        if (candidate / PARAMS).is_file() and (candidate / "Snakefile").is_file():
            return candidate
    raise UserError(
        f"{start} is not in a sharc project. Work in a clone of the repository, or make a project "
        "with `sharc init FOLDER` and pass it as `folder=`."
    )


def load_params(suite: str | None = None, folder: Path | str | None = None) -> Params:
    """The project's checked params.yaml, with the settings of one suite applied.

    suite: a name under `suites` in the file; by default the one that its first key chooses.

    >>> params = load_params("demo")
    >>> params.train.learning_rate
    0.02
    """
    return read_params(find_project(folder) / PARAMS, suite=suite)
