"""The note beside a run record: under which key it was made.

Not inside the record, so that an edit which changes no number changes no record either, and
nothing that follows is built anew.
"""

from pathlib import Path


def note_beside(record: Path) -> Path:
    """Where the note of a record lies."""
    return record.with_suffix(".key")
