"""`sharc new`: a template, its test, and the lines of params.yaml that use it."""

import io
from pathlib import Path
from string import Template
from typing import Any

from ruamel.yaml import YAML

from sharc import registry
from sharc.artifacts.files import write_text
from sharc.config import Params, load_params
from sharc.config.added import BLOCKS, NAME
from sharc.errors import UserError, unknown

OWN = Path("own")  # dvc.yaml watches it
PARAMS = Path("params.yaml")
BLOCK_OF = {kind: block for block, kind in BLOCKS.items()}
_STARTERS = Path(__file__).with_name("starters")
_TEST = '''"""What every $kind must keep; add what yours must do."""

from $name import $Class

from sharc.testing import check_$kind


def test_${name}_keeps_what_every_${kind}_keeps() -> None:
    check_$kind($Class)
'''


def new(kind: str, name: str, images: Path | None) -> str:
    """Write the requested files; returns what was done and what to do next."""
    if kind not in BLOCK_OF:
        raise UserError(unknown("kind", kind, BLOCK_OF))
    params = load_params()
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r}: a name is lower-case letters, digits and _, letter first.")
    if name in registry.names(kind):
        raise UserError(f"{name!r} is already the name of a {kind}: choose another one.")
    if images is not None:
        if kind != "dataset":
            raise UserError(f"a path is only for the images of a dataset, not for a {kind}.")
        return _add_images(name, images, params.suite)
    return _start(kind, name, params)


def _start(kind: str, name: str, params: Params) -> str:
    """Write the file and its test; the lines to add."""
    file, test = OWN / f"{name}.py", OWN / f"test_{name}.py"
    if taken := [str(path) for path in (file, test) if path.exists()]:
        raise UserError(f"{', '.join(taken)} already exists: nothing was written.")
    words = {"kind": kind, "name": name, "Class": name.title().replace("_", "")}
    text = (_STARTERS / f"{kind}.py.txt").read_text(encoding="utf-8")
    write_text(file, Template(text).substitute(words))
    write_text(test, Template(_TEST).substitute(words))
    tasks = ", tasks: 2" if kind == "dataset" else ""
    entry = f"{name}: {{class: {file}:{words['Class']}{tasks}}}"
    use = _use(kind, name, params)
    return "\n".join(
        [
            f"Wrote {file} and {test}. Two lines of {PARAMS} put it into every table:",
            f"\n  {BLOCK_OF[kind]}:\n    {entry}\n\n  suites:\n    {params.suite}:\n      {use}\n",
            f"Next: pytest {test}; sharc validate; sharc build",
        ]
    )


def _use(kind: str, name: str, params: Params) -> str:
    """The line of the suite that names it."""
    suite = params.chosen
    if kind == "backbone":
        return f"backbone: {name}"
    if kind == "memory":
        names = suite.memories.names if suite.memories else []
        return f"memories: {{..., names: [{', '.join([*names, name])}]}}"
    known = suite.methods if kind == "method" else suite.datasets
    return f"{kind}s: [{', '.join([*known, name])}]"


def _add_images(name: str, images: Path, suite: str) -> str:
    """Put the data set into params.yaml and into the suite; comments are kept."""
    from sharc.datasets.image_folder import class_names

    tables = images.is_file() or any(images.rglob("*.parquet"))
    entry: dict[str, Any] = {"parquet" if tables else "folder": images.as_posix()}
    entry["tasks"] = 2 if tables else tasks_for(len(class_names(images)))
    before = PARAMS.read_text(encoding="utf-8")
    write_text(PARAMS, _edited(before, name, entry, suite))
    try:
        load_params()
    except UserError:
        write_text(PARAMS, before)
        raise
    said = ", ".join(f"{key}: {value}" for key, value in entry.items())
    return (
        f"{PARAMS}: added `{name}: {{{said}}}` under datasets, and {name} to the data sets of "
        f"suite {suite}.\nNext: sharc build"
    )


def _edited(text: str, name: str, entry: dict[str, Any], suite: str) -> str:
    """params.yaml with one more data set and every comment."""
    editor = YAML()
    editor.width, editor.preserve_quotes = 4096, True
    editor.indent(mapping=2, sequence=4, offset=2)
    editor.representer.add_representer(
        type(None), lambda writer, _: writer.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    content = editor.load(text)
    line = editor.map(**entry)
    line.fa.set_flow_style()
    content["datasets"].insert(0, name, line)  # at the end it would follow an empty line
    content["suites"][suite]["datasets"].append(name)
    out = io.StringIO()
    editor.dump(content, out)
    return out.getvalue()


def tasks_for(classes: int) -> int:
    """The number of tasks nearest to five that divides the classes, two or more to a task."""
    legal = [n for n in range(2, classes // 2 + 1) if classes % n == 0]
    return min(legal, key=lambda n: abs(n - 5)) if legal else classes
