"""Find the line of a method's own file that caused an error."""

import inspect
import traceback

from sharc.errors import MethodError
from sharc.references import source_line

HINT = (
    "A loss is ordinary torch for one run and returns one number; it cannot branch on the values"
    " of tensors or turn them into Python numbers (.item(), float(), bool())."
)


def located(method: type, error: Exception, hint: str = "") -> MethodError:
    """The error as one message that names the line of the method's file it came from."""
    if isinstance(error, MethodError):
        return error  # it names it already
    said = str(error).strip().partition("\n")[0]
    lines = lines_in(method, error)
    return at(
        method, f"{type(error).__name__}: {said} {hint}".strip(), lines[-1] if lines else None
    )


def lines_in(method: type, error: Exception) -> list[int]:
    """The lines of the method's file that an error passed through."""
    file, frames = inspect.getsourcefile(method), traceback.extract_tb(error.__traceback__)
    return [frame.lineno for frame in frames if frame.filename == file and frame.lineno]


def at(method: type, message: str, line: int | None = None) -> MethodError:
    """A message that begins with the file and line of a method; its `loss` unless given."""
    return MethodError(f"{loss_of(method, line)}: {method.__name__}: {message}")


def loss_of(method: type, line: int | None = None) -> str:
    """file:line of a method's `loss`, or of the class that inherits it."""
    return source_line(vars(method).get("loss", method), line)
