"""Class attributes read from source text, without importing or running anything.

So a command that only reads params.yaml never waits for torch, and a mistake in a user's file is
found before anything is built.
"""

import ast
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from sharc.errors import UserError
from sharc.references import is_path, module_file, split_reference

_ABSENT = object()


def class_attribute(reference: str, attribute: str, default: Any = None) -> Any:
    """The literal a class or one of its bases sets `attribute` to, found without importing it."""
    module, name = split_reference(reference)
    file = module_file(module)
    if file is None:
        raise UserError(f"{reference}: no module {module!r} is installed.")
    found = _attribute(file, name, attribute)
    return default if found is _ABSENT else found


def check_reference(reference: str) -> None:
    """Refuse a class that does not exist; nothing is imported."""
    module, name = split_reference(reference)
    file = module_file(module)
    if file is None or not file.is_file():
        raise UserError(f"{_absent(module)} Write `path/to/file.py:ClassName`.")
    if _defined(file, name) is None:
        classes = [node.name for node in _parsed(file).body if isinstance(node, ast.ClassDef)]
        raise UserError(f"{file} has no class {name!r}. Its classes: {', '.join(classes) or '-'}.")


def _absent(module: str) -> str:
    """That a module or file does not exist, and which files do."""
    if not is_path(module):
        return f"no module {module!r}."
    folder, name = Path(module).parent, Path(module).name
    there = sorted(p.name for p in folder.glob("*.py") if not p.name.startswith("test_"))
    near = get_close_matches(name, there, n=1)
    hint = f" Did you mean {str(folder / near[0])!r}?" if near else ""
    listed = f" {folder}/ holds {', '.join(there)}." if there else ""
    return f"the file {module} does not exist.{hint}{listed}"


def imported_names(file: Path) -> Iterator[str]:
    """Every name that a file imports, as modules or as something in them."""
    for _, module, name in _imported(_parsed(file)):
        yield module
        if name:
            yield f"{module}{'' if module.endswith('.') else '.'}{name}"


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
    """Where the class that `file` calls `name`, perhaps with dots, is defined."""
    tree = _parsed(file)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return file, node
    for called, module, inside in _imported(tree):
        if name == called or name.startswith(f"{called}."):
            rest = ".".join(filter(None, (inside, name[len(called) + 1 :])))
            *deeper, last = rest.split(".")
            dot = "." if deeper and not module.endswith(".") else ""
            source = module_file(f"{module}{dot}{'.'.join(deeper)}", file)
            if source is not None and source != file:
                return _defined(source, last)
    return None


def _imported(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """(name in this file, module, name in that module) of everything that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((a.asname or a.name, module, a.name) for a in node.names)
