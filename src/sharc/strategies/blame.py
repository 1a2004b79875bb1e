"""Find the line of a method's own file that caused an error."""

import inspect
import re
import traceback
from typing import Any

from torch import Tensor

from sharc.errors import MethodError
from sharc.references import source_line

_HINT = (
    "A loss is ordinary torch for one run. It cannot branch on the values of tensors, turn them"
    " into Python numbers (.item(), float(), bool()), draw random numbers, or make results whose"
    " size depends on values (unique, nonzero, boolean indexing, one_hot): compare with"
    " torch.arange instead."
)
_NEEDS_VALUES = re.compile("vmap|data pointer")  # in what torch says of such a line
_ASIDE = re.compile(r" *(For \(1\)|Please (file|either)).*")  # torch's advice to its own developers


def located(method: type, error: Exception) -> MethodError:
    """The error as one message that names the line of the method's file it came from."""
    if isinstance(error, MethodError):
        return error  # it names it already
    said = str(error).strip().partition("\n")[0]
    lines = lines_in(method, error)
    if _NEEDS_VALUES.search(said):
        said = f"{_ASIDE.sub('', said).rstrip('.')}. {_HINT}"
    return at(method, f"{type(error).__name__}: {said}", lines[-1] if lines else None)


def lines_in(method: type, error: Exception) -> list[int]:
    """The lines of the method's file that an error passed through."""
    file, frames = inspect.getsourcefile(method), traceback.extract_tb(error.__traceback__)
    return [frame.lineno for frame in frames if frame.filename == file and frame.lineno]


def at(method: type, message: str, line: int | None = None, hook: str = "loss") -> MethodError:
    """A message that begins with the file and line of a method; that of a hook unless given."""
    return MethodError(f"{loss_of(method, line, hook)}: {method.__name__}: {message}")


def loss_of(method: type, line: int | None = None, hook: str = "loss") -> str:
    """file:line of a method's `loss` or another hook, or of the class that inherits it."""
    return source_line(vars(method).get(hook, method), line)


def one_number(method: type, hook: str, found: Any) -> Tensor:
    """What a hook returned for one run, a scalar; a penalty may be a plain number."""
    plain = hook == "penalty" and isinstance(found, int | float)
    if plain or (isinstance(found, Tensor) and not found.ndim):
        return found  # type: ignore[no-any-return]
    said = f"`{hook}` must return one number per run, got {_described(found)}."
    raise at(method, said, hook=hook)


def check_projected(method: type, found: list[Any], size: int) -> None:
    """Refuse what `project` returned for each run, unless it is a gradient [P]."""
    for gradient in found:
        if not isinstance(gradient, Tensor) or gradient.shape != (size,):
            said = f"`project` must return a gradient of {size} numbers"
            raise at(method, f"{said}, got {_described(gradient)}.", hook="project")


def _described(found: Any) -> str:
    return f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else repr(found)
