"""The files that params.yaml names as one table, and where its rows come from, in words."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from sharc.external.table import COLUMNS, read_runs
from sharc.results import labels


def collect(files: Mapping[str, str]) -> pd.DataFrame:
    """Every run of every file, with the name under which params.yaml lists the file."""
    rows = [(source, *run, file) for source, file in files.items() for run in read_runs(Path(file))]
    return pd.DataFrame(rows, columns=["source", *COLUMNS, "file"])


def note(collected: pd.DataFrame, sources: set[str]) -> str:
    """Which rows of a table are not ours, and the files that hold them."""
    files = dict(zip(collected["source"], collected["file"], strict=True))
    named = ", ".join(f"{source} from {files[source]}" for source in sorted(sources))
    return f"{labels.DAGGER} Not ours, read as given: {named}."
