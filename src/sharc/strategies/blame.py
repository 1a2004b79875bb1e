"""Find the line of a method's own file that caused an error."""

import inspect
import traceback
from pathlib import Path

from sharc.errors import MethodError

HINT = (
    "A loss is ordinary torch for one run and returns one number; it may not branch on the values"
    " of tensors, nor turn them into Python numbers (.item(), float(), bool())."
)


def located(method: type, error: Exception) -> MethodError:
    """The error as one message that names the line of the method's file it came from."""
    if isinstance(error, MethodError):
        return error  # it names it already
    file = _file(method)
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    said = str(error).strip().partition("\n")[0]
    return at(method, f"{type(error).__name__}: {said} {HINT}", lines[-1] if lines else None)


def at(method: type, message: str, line: int | None = None) -> MethodError:
    """A message that begins with the file and line of a method; its `loss` unless given."""
    return MethodError(f"{_file(method)}:{line or _line(method)}: {method.__name__}: {message}")


def _file(method: type) -> str:
    return str(Path(inspect.getsourcefile(method) or "?"))


def _line(method: type) -> int:
    part = vars(method).get("loss", method)
    return inspect.getsourcelines(part)[1]
