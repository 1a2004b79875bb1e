"""Which files a piece of the pipeline is made of: the closure of its imports.

Nobody keeps a list of sources by hand, so no list can be forgotten. What stands under
`if TYPE_CHECKING:` never runs and does not count; data files beside an imported module
(templates, style sheets) do.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
_ROOT = PACKAGE.parent


def source_files(modules: Iterable[str]) -> tuple[Path, ...]:
    """Every file of this package that `modules` import, directly or not, themselves included."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imported_by(module)
    files = {_file_of(module) for module in found}
    folders = {file.parent for file in files if file.parent != PACKAGE}
    return tuple(sorted(files | {extra for folder in folders for extra in _data_files(folder)}))


@cache
def _imported_by(module: str) -> tuple[str, ...]:
    tree = ast.parse(_file_of(module).read_text(encoding="utf-8"))
    names = {name for node in _running_nodes(tree) for name in _names_in(node)}
    parents = {".".join(module.split(".")[:depth]) for depth in range(1, module.count(".") + 1)}
    return tuple(sorted(name for name in names | parents if _is_ours(name)))


def _running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below `node` except the bodies of `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _running_nodes(child)


def _names_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] == PACKAGE.name and _path_of(name) is not None


def _path_of(module: str) -> Path | None:
    path = _ROOT.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _file_of(module: str) -> Path:
    path = _path_of(module)
    if path is None:
        raise ModuleNotFoundError(module)
    return path


def _data_files(folder: Path) -> Iterator[Path]:
    for file in folder.iterdir():
        if file.is_file() and file.suffix not in {".py", ".pyc"} and not file.name.startswith("."):
            yield file
