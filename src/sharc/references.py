"""Find and import classes given as "module:Class" or "path/to/file.py:Class"."""

import inspect
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import Any

from sharc.errors import MethodError, UserError

_INSTALLED = {"site-packages", "dist-packages"}


def split_reference(reference: str) -> tuple[str, str]:
    """The module, or the path of the file, and the class in it."""
    module, _, name = reference.rpartition(":")
    return module, name


def import_class(reference: str) -> Any:
    """The class itself; what a user's file raises on import becomes one message with its line."""
    module, name = split_reference(reference)
    if module.partition(".")[0] == __package__:
        return getattr(import_module(module), name)
    try:
        found = _import_file(Path(module)) if is_path(module) else import_module(module)
    except UserError:
        raise
    except Exception as error:
        raise MethodError(f"{_where(error, module)} on import. Fix it and run again.") from error
    if not hasattr(found, name):
        raise MethodError(f"{module} has no class {name!r}.")
    return getattr(found, name)


def source_line(found: Any, line: int | None = None) -> str:
    """file:line of a class or function, or of a line in its file, as seen from here."""
    file = inspect.getsourcefile(found) or "?"
    return f"{_from_here(file)}:{line or inspect.getsourcelines(found)[1]}"


def _from_here(file: str) -> Path:
    here = Path.cwd()
    return Path(file).relative_to(here) if Path(file).is_relative_to(here) else Path(file)


def module_file(module: str, importer: Path | None = None) -> Path | None:
    """The file of a module, as `importer` would find it; None for what is not installed."""
    if is_path(module):
        return Path(module)
    if importer is not None and (near := neighbour(module, importer)):
        return near
    first, *rest = module.split(".")
    spec = find_spec(first) if first else None
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin and is_path(spec.origin) else None
    folders = spec.submodule_search_locations or ()
    return next(filter(None, (_submodule(Path(folder), rest) for folder in folders)), None)


def neighbour(module: str, importer: Path) -> Path | None:
    """The file of a module next to `importer`: in its folder or its package.

    Leading dots are those of a relative import. Of what is installed only the importer's own
    package counts.
    """
    if module.startswith("."):
        name = module.lstrip(".")
        return _submodule(importer.parents[len(module) - len(name) - 1], name.split("."))
    root, first = _root(importer), module.partition(".")[0]
    own = importer.relative_to(root).parts[0].removesuffix(".py")
    if root.name in _INSTALLED and first != own:
        return None
    return _submodule(root, module.split("."))


def packages_of(file: Path) -> list[Path]:
    """The `__init__.py` of every package that a file lies in: they run before it."""
    inside = file.relative_to(_root(file)).parents
    return [_root(file) / folder / "__init__.py" for folder in list(inside)[:-1]]


def is_path(module: str) -> bool:
    """Whether a file is named, and not a module."""
    return module.endswith(".py")


def _submodule(folder: Path, parts: list[str]) -> Path | None:
    path = folder.joinpath(*parts)
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _root(file: Path) -> Path:
    """The folder from which a file's own imports start: above the packages it lies in."""
    folder = file.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        folder = folder.parent
    return folder


def _import_file(file: Path) -> Any:
    """Import by path, as Python would if the file's folder were the one it was started in."""
    root = _root(file).resolve()
    if str(root) not in sys.path:
        sys.path.append(str(root))  # last, so that a user's file hides no installed module
    name = ".".join(file.resolve().relative_to(root).with_suffix("").parts)
    found = import_module(name.removesuffix(".__init__"))
    if Path(str(found.__file__)).resolve() != file.resolve():
        raise UserError(f"{file} has the name of the module {found.__file__}: rename the file.")
    return found


def _where(error: Exception, module: str) -> str:
    """file:line and kind of an error, the line being the last one in the user's own file."""
    said = f"raises {type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{_from_here(error.filename)}:{error.lineno}"
        return f"{where} raises {type(error).__name__}: {error.msg}"
    frames = extract_tb(error.__traceback__)
    mine = [frame for frame in frames if Path(frame.filename).name == Path(module).name]
    frame = (mine or frames)[-1]
    return f"{_from_here(frame.filename)}:{frame.lineno} {said}"
