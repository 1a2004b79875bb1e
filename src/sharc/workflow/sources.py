"""Which files a job is made of: the closure of its imports.

No list of sources is kept by hand, so none can be out of date. Imports under
`if TYPE_CHECKING:` never run and do not count; data files next to an imported module
(templates, style sheets) do.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import grimp

from sharc.class_text import imported_names
from sharc.references import module_file, neighbour, packages_of

PACKAGE = "sharc"
# Their text is in no job's sources, because what they decide is in each job's key as a value.
BY_VALUE = {
    "sharc.config": "checks params.yaml; the values that a job reads are in its key",
    "sharc.grid": "lists the runs of a suite; a job's runs are in its key",
    "sharc.ladder": "lists the rungs; a job's rungs are in its key",
    "sharc.registry": "finds a class by name; what was found, and its source, are in the key",
    "sharc.references": "imports a class by its address; both address and source are in the key",
    "sharc.pipeline": "plans the jobs of other stages; what those made is this one's input",
    "sharc.entry": "starts jobs and tells Snakemake and DVC of them",
    "sharc.workflow": "decides whether and when a job runs, not what it makes",
}


def source_files(modules: Iterable[str]) -> tuple[Path, ...]:
    """Every file that `modules` import, directly or not, themselves included.

    A module is a dotted name, or the path of a user's own file.
    """
    start = set(modules)
    found: set[Path] = set()
    seen: set[str] = set()
    waiting = sorted(start)
    while waiting:
        module = waiting.pop()
        if module in seen or (module not in start and _by_value(module)):
            continue
        seen.add(module)
        file = _file_of(module)
        if file is not None:
            found.add(file)
            waiting += _imported_by(module, file)
    folders = {file.parent for file in found if _is_ours(file)} - {_root()}
    return tuple(sorted(found | {extra for folder in folders for extra in _data_files(folder)}))


def _by_value(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in BY_VALUE)


def _imported_by(module: str, file: Path) -> tuple[str, ...]:
    """What one module imports, with the packages it is in, except other people's packages."""
    if not module.startswith(PACKAGE) or module.endswith(".py"):
        return tuple(_imported_by_outsider(file))
    parts = module.split(".")
    parents = (".".join(parts[:depth]) for depth in range(1, len(parts)))
    return (*_imports().find_modules_directly_imported_by(module), *parents)


def _imported_by_outsider(file: Path) -> Iterator[str]:
    """A user's file may import ours, and others of its folder or package."""
    yield from map(str, packages_of(file))
    for name in imported_names(file):
        if name.split(".", maxsplit=1)[0] == PACKAGE:
            if _file_of(name) is not None:
                yield name
        elif (near := neighbour(name, file)) is not None:
            yield str(near)


def as_in_a_clone(name: str) -> str:
    """The path that one of our modules has in a clone of the project, wherever it is installed."""
    path = Path.cwd() / name
    return f"src/{path.relative_to(_root().parent)}" if _is_ours(path) else name


@cache
def _imports() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)


@cache
def _root() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(PACKAGE)
    return Path(spec.origin).parent


@cache
def _file_of(module: str) -> Path | None:
    """The file of a module; None for a name that is something inside one."""
    if module.endswith(".py"):
        return Path(module)
    if module.split(".", maxsplit=1)[0] != PACKAGE:
        return module_file(module)
    path = _root().joinpath(*module.split(".")[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


def _is_ours(file: Path) -> bool:
    return file.is_relative_to(_root())


def _data_files(folder: Path) -> Iterator[Path]:
    for file in folder.iterdir():
        if file.is_file() and file.suffix not in {".py", ".pyc"} and not file.name.startswith("."):
            yield file
