"""Classes by "module:Class" or "path/to/file.py:Class": read without running them, or imported.

A command that only looks at params.yaml reads a class's attributes from its source text, so that
it never waits for torch; the job that uses the class imports it.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import Any

from sharc.errors import UserError

_ABSENT = object()


def split_reference(reference: str) -> tuple[str, str]:
    """The module, or the path of the file, and the class in it."""
    module, _, name = reference.rpartition(":")
    return module, name


def class_attribute(reference: str, attribute: str, default: Any = None) -> Any:
    """The literal a class or one of its bases sets `attribute` to, found without importing it."""
    module, name = split_reference(reference)
    file = module_file(module)
    if file is None:
        raise UserError(f"{reference}: no module {module!r} is installed.")
    found = _attribute(file, name, attribute)
    return default if found is _ABSENT else found


def check_reference(reference: str) -> None:
    """Refuse a class that is not there; nothing is imported."""
    module, name = split_reference(reference)
    file = module_file(module)
    if file is None or not file.is_file():
        what = f"the file {module} does not exist" if _is_path(module) else f"no module {module!r}"
        raise UserError(f"{what}: write `path/to/file.py:ClassName`.")
    if _defined(file, name) is None:
        classes = [node.name for node in _parsed(file).body if isinstance(node, ast.ClassDef)]
        raise UserError(f"{file} has no class {name!r}. Its classes: {', '.join(classes) or '-'}.")


def import_class(reference: str) -> Any:
    """The class itself; what a user's file raises on import becomes one message with its line."""
    module, name = split_reference(reference)
    if module.partition(".")[0] == __package__:
        return getattr(import_module(module), name)
    try:
        found = _import_file(Path(module)) if _is_path(module) else import_module(module)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{_where(error, module)} on import. Fix it and run again.") from error
    if not hasattr(found, name):
        raise UserError(f"{module} has no class {name!r}.")
    return getattr(found, name)


def module_file(module: str, importer: Path | None = None) -> Path | None:
    """The file of a module, as `importer` would find it; None for what is not installed."""
    if _is_path(module):
        return Path(module)
    first, *rest = module.split(".")
    if importer is not None and (beside := _submodule(_root(importer), [first, *rest])):
        return beside
    spec = find_spec(first)
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin and _is_path(spec.origin) else None
    folders = spec.submodule_search_locations or ()
    return next(filter(None, (_submodule(Path(folder), rest) for folder in folders)), None)


def _is_path(module: str) -> bool:
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
        sys.path.append(str(root))  # last: a user's file hides no installed module
    name = ".".join(file.resolve().relative_to(root).with_suffix("").parts)
    found = import_module(name.removesuffix(".__init__"))
    if Path(str(found.__file__)).resolve() != file.resolve():
        raise UserError(f"{file} has the name of the module {found.__file__}: rename the file.")
    return found


def _where(error: Exception, module: str) -> str:
    """file:line and kind of an error, the line being the last one in the user's own file."""
    said = f"raises {type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno} raises {type(error).__name__}: {error.msg}"
    frames = extract_tb(error.__traceback__)
    mine = [frame for frame in frames if Path(frame.filename).name == Path(module).name]
    frame = (mine or frames)[-1]
    return f"{frame.filename}:{frame.lineno} {said}"


def _parsed(file: Path) -> ast.Module:
    try:
        return _tree(file, file.stat().st_mtime_ns)
    except SyntaxError as error:
        raise UserError(f"{file}:{error.lineno} is not valid Python: {error.msg}.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read as Python: {error}.") from None


@cache
def _tree(file: Path, changed: int) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _attribute(file: Path, name: str, attribute: str) -> Any:
    """A class's own literal, else that of the first base that has one."""
    found = _defined(file, name)
    if found is None:
        return _ABSENT
    file, node = found
    for target, value in _assignments(node):
        if target == attribute:
            return _literal(value, file, attribute)
    for base in node.bases:
        inherited = _attribute(file, ast.unparse(base), attribute)
        if inherited is not _ABSENT:
            return inherited
    return _ABSENT


def _assignments(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and item.value is not None:
            yield ast.unparse(item.target), item.value
        elif isinstance(item, ast.Assign):
            yield from ((ast.unparse(target), item.value) for target in item.targets)


def _literal(value: ast.expr, file: Path, attribute: str) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        raise UserError(
            f"{file}:{value.lineno} sets {attribute} to {ast.unparse(value)}: write its value out,"
            " because it is read without running the file."
        ) from None


def _defined(file: Path, name: str) -> tuple[Path, ast.ClassDef] | None:
    """Where the class that `file` calls `name`, perhaps with dots, is written."""
    tree = _parsed(file)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return file, node
    for called, module, inside in _imported(tree):
        if name == called or name.startswith(f"{called}."):
            rest = ".".join(filter(None, (inside, name[len(called) + 1 :])))
            *deeper, last = rest.split(".")
            source = module_file(".".join([module, *deeper]), file)
            if source is not None and source != file:
                return _defined(source, last)
    return None


def _imported(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """(name in this file, module, name in that module) of everything that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((a.asname or a.name, node.module, a.name) for a in node.names)
