"""The one exception a user's mistake or a damaged file turns into."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A problem the user can fix: shown as one message, without a traceback, exit code 2."""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that `name` is not a known `kind`, suggest the nearest one and list them all."""
    names = sorted(known)
    near = get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {kind} {name!r}.{hint} Known: {', '.join(names)}."


class MethodError(UserError):
    """A mistake in a user's class: its runs are recorded as failed, the others continue."""
