"""Where the offline mirror of the data sets lies, if there is one."""

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def mirror():
    """The mirror folder of the environment, else the one next to the project, else None."""
    named = os.environ.get("SHARC_MIRROR")
    folder = Path(named) if named else PROJECT.parent / "shared" / "data"
    return folder if folder.is_dir() else None
