"""An interrupted long job continues where it stopped, unless its code has changed."""

import shutil

from sharc.artifacts.files import digest_of, write_text
from sharc.workflow.stage import Build, Job
from sharc.workflow.stash import PLACE

_STARTED = PLACE.parent / "started"


def start_over(job: Job, build: Build) -> None:
    """Empty the job's folder, unless the same code started it on the same data.

    The stage itself decides which finished pieces were made with the same settings.
    """
    note = _STARTED / job.stage / f"{job.name}.key"
    key = digest_of(build.key_of("begun"))
    if build.forced or not note.is_file() or note.read_text() != key:
        shutil.rmtree(job.folder, ignore_errors=True)
    write_text(note, key)
