"""`sharc validate`: what a build would refuse is found before it begins."""

from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from sharc import looks, registry
from sharc.cli import app
from sharc.errors import UserError

PARAMS = Path(__file__).parents[1] / "params.yaml"
METHOD = """
from sharc.strategies.er import ER

class Mine(ER):
    defaults = {"strength": 1.0}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    registry.adopt({})
    looks.adopt({})


def validated(old: str, new: str) -> str:
    """What the command prints of params.yaml with one place changed."""
    text = PARAMS.read_text()
    assert old in text
    Path("params.yaml").write_text(text.replace(old, new, 1))
    return CliRunner().invoke(app, ["validate"], catch_exceptions=False).output


def refused(old: str, new: str) -> str:
    with pytest.raises(UserError) as error:
        validated(old, new)
    return str(error.value)


def test_a_value_that_the_suite_overrides_is_said_to_have_no_effect():
    said = validated("learning_rate: 0.1", "learning_rate: 0.5")
    assert "params.yaml is valid. Suite 'demo'" in said
    assert "train.learning_rate: suite demo sets 0.02, so 0.5 has no effect\n" in said
    same = validated("learning_rate: 0.1", "learning_rate: 0.02")
    assert "train.learning_rate" not in same


def test_an_option_that_a_class_of_ones_own_does_not_know_is_named_with_its_key(folder: Path):
    (folder / "validated_mine.py").write_text(METHOD)
    entry = "mine: {{class: validated_mine.py:Mine, {}: 2.0}}\n  agem: {{}}"
    assert "is valid" in validated("agem: {}", entry.format("strength"))
    message = refused("agem: {}", entry.format("strenght"))
    assert "methods.mine: strenght: unknown key 'strenght'. Did you mean 'strength'?" in message


def test_images_must_be_there_and_divide_into_the_tasks(folder: Path):
    for name in ("crow", "finch", "robin", "wren"):
        (folder / "birds" / name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(folder / "birds" / name / "0.png")

    def changed(entry: str) -> tuple[str, str]:
        text, first = PARAMS.read_text(), "  digits: {tasks: 5}"
        added = text.replace(first, f"  mine: {{{entry}}}\n{first}", 1)
        return text, added.replace("datasets: [digits]", "datasets: [digits, mine]", 1)

    assert "runs on digits, mine" in validated(*changed("folder: birds, tasks: 2"))
    message = refused(*changed("folder: birds, tasks: 3"))
    assert "datasets.mine.tasks is 3, but 4 classes do not divide" in message
    assert "Legal: 1, 2, 4." in message
    moved = refused(*changed("folder: moved, tasks: 2"))
    assert "datasets.mine: moved does not exist: write where your images are." in moved
    (folder / "data/digests").mkdir(parents=True)
    (folder / "data/digests/mine.json").write_text("{}")
    assert "moved is not here" in validated(*changed("folder: moved, tasks: 2"))
