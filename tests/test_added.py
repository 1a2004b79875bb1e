"""What params.yaml adds: found without running it, imported when used, refused with one message."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sharc import looks, registry
from sharc.class_text import class_attribute
from sharc.config import added as added_module
from sharc.config import load_params
from sharc.errors import UserError
from sharc.grid import cells
from sharc.workflow.sources import source_files

PARAMS = Path(__file__).parent.parent / "params.yaml"
METHOD = """
from sharc.strategies.er import ER
from sharc.strategies.sgd import SGD as Plain

class Mine(ER):
    label = "Mine"
    colour = "#123456"
    marker: str = "p"

class Smooth(Plain):
    pass
"""


@pytest.fixture(autouse=True)
def _nothing_added_afterwards():
    yield
    registry.adopt({})
    looks.adopt({})


def project(tmp_path: Path, blocks: dict[str, dict[str, object]], **suite: object) -> Path:
    """params.yaml with more entries in some blocks and more values in the demo's lists."""
    raw = yaml.safe_load(PARAMS.read_text())
    for block, entries in blocks.items():
        raw.setdefault(block, {}).update(entries)
    for key, value in suite.items():
        known = raw["suites"]["demo"][key]
        raw["suites"]["demo"][key] = [*known, value] if isinstance(known, list) else value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(raw))
    return path


def refused(path: Path) -> str:
    with pytest.raises(UserError) as error:
        load_params(path)
    return str(error.value)


def with_method(tmp_path: Path, text: str = METHOD, called: str = "Mine") -> Path:
    (tmp_path / "mine.py").write_text(text)
    return project(
        tmp_path, {"methods": {"mine": {"class": f"mine.py:{called}", "beta": 2}}}, methods="mine"
    )


def test_a_file_and_two_lines_put_a_method_into_the_grid(tmp_path: Path):
    params = load_params(with_method(tmp_path))
    found = {(cell.variant.name, cell.buffer) for cell in cells(params) if cell.method == "mine"}
    er = {(cell.variant.name, cell.buffer) for cell in cells(params) if cell.method == "er"}
    assert {cell for cell in found if "t0.8" in cell[0] or cell[0] == "dense"} <= er
    assert ("dense", 50) in found
    assert params.methods.mine == {"beta": 2}  # its options alone
    assert registry.load("method", "mine").__name__ == "Mine"


def test_a_method_that_replays_nothing_has_one_cell_and_no_buffer(tmp_path: Path):
    params = load_params(with_method(tmp_path, called="Smooth"))
    mine = [cell for cell in cells(params) if cell.method == "mine"]
    assert [(cell.variant.name, cell.buffer) for cell in mine] == [("dense", 0)]


def test_an_attribute_is_inherited_through_imports_and_another_name(tmp_path: Path):
    (tmp_path / "deep.py").write_text(METHOD + "class Deeper(Mine):\n    label = 'Deeper'\n")
    (tmp_path / "deeper.py").write_text("import deep as d\n\nclass Deepest(d.Deeper):\n    pass\n")
    reference = f"{tmp_path / 'deeper.py'}:Deepest"
    assert class_attribute(reference, "replays") == "all"
    assert class_attribute(reference, "label") == "Deeper"
    assert class_attribute(reference, "absent", 7) == 7
    assert "deep" not in sys.modules  # read, not imported


def test_looks_come_from_the_class_or_from_what_nobody_else_has(tmp_path: Path):
    text = METHOD + "\nclass Plain(ER):\n    pass\n"
    (tmp_path / "mine.py").write_text(text)
    others = {f"plain{n}": {"class": "mine.py:Plain"} for n in range(12)}
    load_params(project(tmp_path, {"methods": {"mine": {"class": "mine.py:Mine"}} | others}))
    assert looks.look("method", "mine") == ("Mine", "#123456", "p")
    assert looks.look("method", "plain0").label == "plain0"
    shown = [looks.look("method", name)[1:] for name in registry.names("method")]
    assert len(set(shown)) == len(shown) == len(registry.METHODS) + 13
    assert looks.look("method", "er") == ("ER", "#D55E00", "o")


def test_what_an_earlier_file_added_is_forgotten(tmp_path: Path):
    load_params(with_method(tmp_path))
    load_params(PARAMS)
    assert registry.names("method") == list(registry.METHODS)
    assert looks.look("method", "mine").label == "mine"


def test_the_file_is_looked_for_next_to_params_yaml_and_not_run(tmp_path: Path):
    path = with_method(tmp_path, f"raise SystemExit('run')\n{METHOD}")
    assert load_params(path).suite == "demo"
    assert registry.pick("method", "mine") == f"{tmp_path}/mine.py:Mine"


def test_checking_an_added_method_does_not_import_torch(tmp_path: Path):
    path = with_method(tmp_path)
    code = (
        "import sys; from pathlib import Path; from sharc.config import load_params;"
        f"load_params(Path({str(path)!r})); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_installed_package_offers_a_method_by_its_entry_point(tmp_path: Path, monkeypatch):
    (tmp_path / "their_methods.py").write_text(METHOD)
    info = tmp_path / "their_methods-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-methods\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[sharc.methods]\ntheirs = their_methods:Mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    added_module._installed.cache_clear()
    try:
        params = load_params(project(tmp_path, {"methods": {"theirs": {}}}, methods="theirs"))
    finally:
        added_module._installed.cache_clear()
    assert registry.pick("method", "theirs") == "their_methods:Mine"
    assert any(cell.method == "theirs" for cell in cells(params))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"alpha": 1}, "unknown method 'mine'"),
        ({"alpha": 1}, "`sharc new method mine` writes the file"),
        ({"class": "mine.py"}, "write `path/to/file.py:ClassName`"),
        ({"class": "absent.py:Mine"}, "absent.py does not exist"),
        ({"class": "no_such_package.x:Mine"}, "no module 'no_such_package.x'"),
        ({"class": "mine.py:Other"}, "has no class 'Other'. Its classes: Mine, Smooth."),
        ({"class": "broken.py:Mine"}, "broken.py:2 is not valid Python"),
        ({"class": "unread.py:Mine"}, "unread.py:4 sets replays to WHAT: write its value out"),
        ({"class": "ugly.py:Mine"}, "sets colour to 'mauve': write `#rrggbb`"),
    ],
)
def test_a_wrong_entry_is_one_message_with_its_key(tmp_path: Path, entry: object, said: str):
    (tmp_path / "mine.py").write_text(METHOD)
    (tmp_path / "broken.py").write_text("class Mine:\nbut not Python\n")
    (tmp_path / "unread.py").write_text("WHAT = 'all'\n\nclass Mine:\n    replays = WHAT\n")
    (tmp_path / "ugly.py").write_text("class Mine:\n    colour = 'mauve'\n")
    message = refused(project(tmp_path, {"methods": {"mine": entry}}, methods="mine"))
    assert "methods.mine" in message
    assert said in message


def test_a_misspelt_file_is_answered_with_those_that_are_there(tmp_path: Path):
    (tmp_path / "own").mkdir()
    for name in ("my_er_ace.py", "other.py", "test_other.py"):
        (tmp_path / "own" / name).write_text(METHOD)
    entry = {"class": "own/my_erace.py:Mine"}
    message = refused(project(tmp_path, {"methods": {"mine": entry}}, methods="mine"))
    own = tmp_path / "own"
    assert f"the file {own}/my_erace.py does not exist." in message
    assert f"Did you mean '{own}/my_er_ace.py'? {own}/ holds my_er_ace.py, other.py." in message


def test_a_mistake_in_a_file_is_to_be_fixed_there_and_one_in_params_yaml_here(tmp_path: Path):
    (tmp_path / "broken.py").write_text("class Mine:\nbut not Python\n")
    broken = {"broken": {"class": "broken.py:Mine"}}
    path = project(tmp_path, {"methods": broken})
    assert refused(path).endswith(f"\nFix {tmp_path}/broken.py, then run `sharc validate`.")
    path = project(tmp_path, {"methods": broken | {"absent": {"class": "absent.py:Mine"}}})
    assert refused(path).endswith(
        f"\nFix {path} and {tmp_path}/broken.py, then run `sharc validate`."
    )


@pytest.mark.parametrize(
    ("block", "entry", "said"),
    [
        ("datasets", {"foldr": "pics", "tasks": 2}, "unknown key 'foldr'. Did you mean 'folder'?"),
        ("datasets", {"clas": "x.py:X", "tasks": 2}, "unknown key 'clas'. Did you mean 'class'?"),
        ("methods", {"clas": "x.py:X", "alpha": 1}, "unknown key 'clas'. Did you mean 'class'?"),
        ("backbones", {"torchvison": "resnet18"}, "Did you mean 'torchvision'?"),
    ],
)
def test_a_misspelt_word_for_where_something_is_is_named(
    tmp_path: Path, block: str, entry: dict[str, object], said: str
):
    message = refused(project(tmp_path, {block: {"mine": entry}}))
    assert f"{block}.mine: unknown key" in message
    assert said in message


def test_a_near_name_is_named_before_how_to_add_ones_own(tmp_path: Path):
    assert "Did you mean 'derpp'?" in refused(project(tmp_path, {"methods": {"derp": {}}}))


@pytest.mark.parametrize(
    ("block", "kind", "name"),
    [
        ("methods", "method", "er"),
        ("memories", "memory", "bayes_pcn"),
        ("datasets", "dataset", "digits"),
        ("backbones", "backbone", "resnet18"),
    ],
)
def test_a_name_of_ours_cannot_be_given_another_class(
    tmp_path: Path, block: str, kind: str, name: str
):
    (tmp_path / "mine.py").write_text(METHOD)
    message = refused(project(tmp_path, {block: {name: {"class": "mine.py:Mine"}}}))
    assert f"{block}.{name}: {name!r} is a {kind} of sharc's own: choose another name." in message


def test_an_installed_package_cannot_take_a_name_of_ours(tmp_path: Path, monkeypatch):
    ours = registry.pick("method", "er")
    monkeypatch.setattr(added_module, "_installed", lambda block: {"er": "theirs:ER"})
    load_params(PARAMS)
    assert registry.pick("method", "er") == ours


@pytest.mark.parametrize("name", ["../up", "a b", "$(id)", "Upper", "9"])
def test_a_name_that_could_leave_its_folder_is_refused(tmp_path: Path, name: str):
    (tmp_path / "mine.py").write_text(METHOD)
    message = refused(project(tmp_path, {"methods": {name: {"class": "mine.py:Mine"}}}))
    assert "a name is lower-case letters" in message


def test_a_method_without_replay_has_no_place_where_sharc_is_compared(tmp_path: Path):
    raw = yaml.safe_load(PARAMS.read_text())
    raw["suites"]["demo"]["thetas"]["methods"] = ["sgd"]
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(raw))
    assert "suites.demo.thetas.methods.0: replays nothing" in refused(tmp_path / "params.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nsurely_not_defined\nclass Raises: pass\n", "py:2 raises NameError"),
        (
            "class Raises: pass\n",
            "py:1: Raises must be a subclass of sharc.strategies.base.Strategy",
        ),
        (
            "from sharc.strategies.base import Strategy\nclass Raises(Strategy): pass\n",
            "py:2: Raises lacks step: `sharc new method` shows how",
        ),
    ],
)
def test_a_class_that_cannot_serve_is_one_message(tmp_path: Path, text: str, said: str):
    file = tmp_path / f"raises{abs(hash(text))}.py"  # a module is imported once per process
    file.write_text(text)
    load_params(project(tmp_path, {"methods": {"mine": {"class": f"{file.name}:Raises"}}}))
    with pytest.raises(UserError, match=said):
        registry.load("method", "mine")


def test_a_file_named_like_an_installed_module_is_refused(tmp_path: Path):
    (tmp_path / "yaml.py").write_text(METHOD)
    load_params(project(tmp_path, {"methods": {"mine": {"class": "yaml.py:Mine"}}}))
    with pytest.raises(UserError, match="rename the file"):
        registry.load("method", "mine")


def test_a_backbone_of_ones_own_is_registered_in_a_block_of_its_own(tmp_path: Path):
    (tmp_path / "small.py").write_text("class Small:\n    pass\n")
    params = load_params(
        project(tmp_path, {"backbones": {"small": {"class": "small.py:Small"}}}, backbone="small")
    )
    assert params.chosen.backbone == "small"


def closure(file: Path) -> set[str]:
    found = source_files([str(file)])
    return {
        path.relative_to(file.parent).as_posix() for path in found if "src/sharc" not in str(path)
    }


def test_a_users_file_counts_with_its_neighbours_that_it_imports(tmp_path: Path):
    (tmp_path / "mine.py").write_text("import torch\nfrom helper import x\nimport tools.deep\n")
    (tmp_path / "helper.py").write_text("import second\nfrom sharc.strategies.er import ER\n")
    for name in ("second", "unused"):
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/__init__.py").write_text("")
    (tmp_path / "tools/deep.py").write_text("from . import wide\nfrom .wide import y\n")
    (tmp_path / "tools/wide.py").write_text("")
    expected = {"mine.py", "helper.py", "second.py"}
    expected |= {"tools/__init__.py", "tools/deep.py", "tools/wide.py"}
    assert closure(tmp_path / "mine.py") == expected
    assert any(path.name == "er.py" for path in source_files([str(tmp_path / "mine.py")]))


def test_an_installed_class_counts_with_its_own_package_alone(tmp_path: Path, monkeypatch):
    site = tmp_path / "site-packages"
    for package in ("theirs", "others"):
        (site / package).mkdir(parents=True)
        (site / package / "__init__.py").write_text("raise SystemExit('imported')\n")
        (site / package / "parts.py").write_text("")
    (site / "theirs/methods.py").write_text("import others.parts\nimport theirs.parts\n")
    monkeypatch.syspath_prepend(site)
    found = {path.relative_to(site).as_posix() for path in source_files(["theirs.methods"])}
    assert found == {"theirs/__init__.py", "theirs/methods.py", "theirs/parts.py"}
