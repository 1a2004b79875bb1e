"""Registers the classes that users add in params.yaml.

    methods: {er_ace2: {class: own/er_ace2.py:ERACE2, alpha: 0.5}}

registers `er_ace2` and leaves `{alpha: 0.5}`, its options, for the model to check. A name without
a `class` is looked up among the installed packages, by the entry point groups `sharc.methods`,
`sharc.memories`, `sharc.datasets` and `sharc.backbones`.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from sharc import looks, registry
from sharc.class_text import check_reference, class_attribute
from sharc.config.backbones import LIBRARIES
from sharc.config.datasets import IMAGES, Dataset
from sharc.errors import UserError, unknown
from sharc.references import is_path, split_reference

BLOCKS = {
    "methods": "method",
    "memories": "memory",
    "datasets": "dataset",
    "backbones": "backbone",
}
NAME = re.compile(r"[a-z][a-z0-9_]*")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_LIBRARIES = dict.fromkeys(LIBRARIES, "sharc.backbones.outside:OutsideBackbone")


def adopt_added(raw: dict[str, Any], path: Path) -> None:
    """Register what `raw` adds and leave only its options in `raw`."""
    found: dict[str, dict[str, str]] = {}
    shown: dict[str, dict[str, dict[str, str | None]]] = {}
    mistakes, wrong = [], []
    for block, name, options in _entries(raw):
        kind, reference = BLOCKS[block], None
        try:
            reference = _reference(block, name, options, path)
            if reference is None:
                continue
            check_reference(reference)
            class_attribute(reference, "replays")  # the grid will need it
            shown.setdefault(kind, {})[name] = _look(reference) | _label(options)
            found.setdefault(kind, {})[name] = reference
        except UserError as error:
            mistakes.append(f"  {block}.{name}: {error}")
            wrong.append(_file_at_fault(str(error), reference) or str(path))
    if mistakes:
        fix = f"Fix {' and '.join(dict.fromkeys(wrong))}, then run `sharc validate`."
        raise UserError("\n".join([f"{path} is not valid:", *mistakes, fix]))
    registry.adopt(found)
    looks.adopt(shown)


def _file_at_fault(message: str, reference: str | None) -> str | None:
    """The user's file that a message begins with; None if params.yaml itself is wrong."""
    file = split_reference(reference)[0] if reference else ""
    return file if is_path(file) and message.startswith(f"{file}:") else None


def _entries(raw: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Block, name and options of everything that may be an addition."""
    for block in BLOCKS:
        entries = raw.get(block)
        for name, options in entries.items() if isinstance(entries, dict) else ():
            if isinstance(name, str) and isinstance(options, dict):
                yield block, name, options
    for backbone in _suites_backbones(raw):
        yield "backbones", backbone, {}


def _suites_backbones(raw: dict[str, Any]) -> Iterator[str]:
    """Backbones of installed packages need no block of their own."""
    suites = raw.get("suites")
    for suite in suites.values() if isinstance(suites, dict) else ():
        name = suite.get("backbone") if isinstance(suite, dict) else None
        if isinstance(name, str) and name in _installed("backbones"):
            yield name


def _reference(block: str, name: str, options: dict[str, Any], path: Path) -> str | None:
    """The class that a name should stand for; None if the name is ours."""
    ours = registry.KINDS[BLOCKS[block]]
    given = options.pop("class", None)
    if name in ours:
        if given is not None:
            raise UserError(f"{name!r} is a {BLOCKS[block]} of sharc's own: choose another name.")
        return None
    if not NAME.fullmatch(name):
        raise UserError("a name is lower-case letters, digits and _, letter first.")
    if (reader := _reader(block, options, path)) is not None:
        return reader
    if given is None:
        return _installed_reference(block, name, options)
    if block == "datasets":  # keys that our data sets do not know are for the class
        unknown_keys = options.keys() - Dataset.model_fields
        options["options"] = {key: options.pop(key) for key in sorted(unknown_keys)}
    return _placed(given, path)


def _reader(block: str, options: dict[str, Any], path: Path) -> str | None:
    """Our class that reads the user's images or weights; their path is relative to params.yaml."""
    known: dict[str, dict[str, str]] = {"datasets": IMAGES, "backbones": _LIBRARIES}
    given = next(filter(options.get, known.get(block, {})), None)
    if given is None:
        return None
    file = given if block == "datasets" else "weights"
    if isinstance(options.get(file), str):
        options[file] = str(path.parent / options[file])
    return known[block][given]


def _placed(given: Any, path: Path) -> str:
    """A class as params.yaml names it, its file found from the folder of params.yaml."""
    if not isinstance(given, str) or ":" not in given:
        raise UserError(f"class is {given!r}: write `path/to/file.py:ClassName`.")
    module, _, called = given.rpartition(":")
    return f"{path.parent / module}:{called}" if module.endswith(".py") else given


def _installed_reference(block: str, name: str, options: dict[str, Any]) -> str:
    """The class that an installed package offers under this name."""
    kind, installed = BLOCKS[block], _installed(block)
    if name in installed:
        return installed[name]
    if misspelt := _misspelt_source(block, options):
        raise UserError(misspelt)
    known = [*registry.KINDS[kind], *installed]
    raise UserError(
        f"{unknown(kind, name, known)} To add your own, name its class here, "
        f"`{name}: {{class: own/{name}.py:ClassName}}`; `sharc new {kind} {name}` writes the file."
    )


def _misspelt_source(block: str, options: dict[str, Any]) -> str:
    """What to say of a key that is nearly `class`, `folder` or the like; "" if there is none."""
    sources: dict[str, tuple[str, ...]] = {"datasets": (*IMAGES,), "backbones": LIBRARIES}
    says_where = ("class", *sources.get(block, ()))
    known = {*says_where, *(Dataset.model_fields if block == "datasets" else ())}
    for key in options.keys() - known:
        if set(get_close_matches(key, known, n=1, cutoff=0.5)) & set(says_where):
            return unknown("key", key, known)
    return ""


@cache
def _installed(block: str) -> dict[str, str]:
    """Names and classes that installed packages offer by their entry points."""
    return {entry.name: entry.value for entry in entry_points(group=f"sharc.{block}")}


def _label(options: dict[str, Any]) -> dict[str, str | None]:
    """The label that params.yaml gives a data set; the model checks it."""
    label = options.get("label")
    return {"label": label} if isinstance(label, str) else {}


def _look(reference: str) -> dict[str, str | None]:
    """The label, colour and marker that a class asks for."""
    wanted = {field: class_attribute(reference, field) for field in looks.Look._fields}
    for field, value in wanted.items():
        if value is not None and not isinstance(value, str):
            raise UserError(f"{reference} sets {field} to {value!r}: text is expected.")
    if wanted["colour"] and not _COLOUR.fullmatch(wanted["colour"]):
        raise UserError(f"{reference} sets colour to {wanted['colour']!r}: write `#rrggbb`.")
    if wanted["marker"] and wanted["marker"] not in looks.MARKERS:
        raise UserError(f"{reference}: {unknown('marker', wanted['marker'], looks.MARKERS)}")
    return wanted
