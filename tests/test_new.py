"""`sharc new`: what it writes works as it stands, and what it prints is all there is to do."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from PIL import Image

from sharc import looks, registry, testing
from sharc.cli.new import new, tasks_for
from sharc.config import load_params
from sharc.datasets.base import Dataset
from sharc.datasets.raw import Contents, Split
from sharc.errors import UserError
from sharc.grid import cells
from sharc.memories.zeros import Zeros
from sharc.registry import MEMORIES, METHODS, load
from sharc.strategies.by_loss import LossStrategy
from sharc.strategies.er import ER
from sharc.strategies.sgd import SGD

PARAMS = Path(__file__).parent.parent / "params.yaml"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copy(PARAMS, tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    registry.adopt({})
    looks.adopt({})


def follow(printed: str) -> None:
    """Do to params.yaml what the printed lines say."""
    snippet = yaml.safe_load(
        printed.split("\n\n", 1)[1].rsplit("\n\n", 1)[0].replace("{..., ", "{")
    )
    raw = yaml.safe_load(Path("params.yaml").read_text())
    suite = snippet.pop("suites")["demo"]
    for key, value in suite.items():
        held = raw["suites"]["demo"]
        held[key] = held[key] | value if isinstance(value, dict) else value
    for block, entries in snippet.items():
        raw.setdefault(block, {}).update(entries)
    Path("params.yaml").write_text(yaml.safe_dump(raw))


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("kind", ["method", "memory", "dataset", "backbone"])
def test_the_written_file_passes_its_test_and_enters_the_grid(
    kind: str, monkeypatch: pytest.MonkeyPatch
):
    name = f"started_{kind}"
    printed = new(kind, name, None)
    follow(printed)
    members = cells(load_params())
    assert any(name in (getattr(c, kind, None), c.variant.memory) for c in members)
    assert load(kind, name).__name__ == f"Started{kind.title()}"
    monkeypatch.syspath_prepend("own")
    tests = module(Path(f"own/test_{name}.py"))
    getattr(tests, f"test_{name}_keeps_what_every_{kind}_keeps")()


def test_a_folder_of_images_is_written_into_params_yaml_and_every_comment_stays():
    for name in "abcd":
        Path("birds", name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(f"birds/{name}/0.png")
    before = PARAMS.read_text().splitlines()
    new("dataset", "birds", Path("birds"))
    after = Path("params.yaml").read_text().splitlines()
    changed = [line for line in after if line not in before]
    assert changed == ["  birds: {folder: birds, tasks: 2}", "    datasets: [digits, birds]"]
    assert len(after) == len(before) + 1
    assert load_params().chosen.datasets == ["digits", "birds"]


@pytest.mark.parametrize(
    ("classes", "tasks"), [(10, 5), (12, 4), (4, 2), (100, 5), (2, 2), (3, 3), (200, 5)]
)
def test_a_folder_is_split_into_about_five_tasks_of_two_or_more_classes(classes: int, tasks: int):
    assert tasks_for(classes) == tasks


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("methd", "mine", None), "Did you mean 'method'?"),
        (("method", "er", None), "'er' is already the name of a method"),
        (("method", "../up", None), "a name is lower-case letters"),
        (("method", "mine", Path("x")), "a path is only for the images of a dataset"),
        (("dataset", "mine", Path("absent")), "absent does not exist"),
    ],
)
def test_a_wrong_start_is_one_message_and_writes_nothing(
    arguments: tuple[str, str, Path | None], said: str
):
    with pytest.raises(UserError) as error:
        new(*arguments)
    assert said in str(error.value)
    assert Path("params.yaml").read_text() == PARAMS.read_text()
    assert not Path("own").exists()


@pytest.mark.parametrize(("classes", "said"), [("a", "holds 1 class, 'a'"), ("ab", "b is empty")])
def test_a_folder_that_could_not_be_built_is_not_added(classes: str, said: str):
    for name in classes:
        Path("birds", name).mkdir(parents=True)
    Image.new("RGB", (8, 8)).save("birds/a/0.png")
    with pytest.raises(UserError, match=said):
        new("dataset", "birds", Path("birds"))
    assert Path("params.yaml").read_text() == PARAMS.read_text()


def test_a_file_that_exists_is_not_overwritten():
    new("method", "twice", None)
    Path("own/twice.py").write_text("mine")
    with pytest.raises(UserError, match="already exists: nothing was written"):
        new("method", "twice", None)
    assert Path("own/twice.py").read_text() == "mine"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_ours_keeps_what_a_users_must(name: str):
    if name != "clser":  # its stable head lags far behind in so short a stream
        testing.check_method(load("method", name))


@pytest.mark.parametrize("name", sorted(set(MEMORIES) - {"pooled"}))
def test_every_memory_of_ours_keeps_what_a_users_must(name: str):
    testing.check_memory(load("memory", name))


class NeverLearns(SGD):
    def step(self, batch):
        pass


class Branches(LossStrategy):
    def loss(self, new, *replayed):
        return new.logits.sum() if new.logits.sum() > 0 else new.logits.mean()


class CountsItsCompany(ER):
    def step(self, batch):
        super().step(batch)
        self.rate = 0.1 if len(self.runs) > 1 else 0.5


class ChangesAll(Zeros):
    def recall(self, cue, kept, labels):
        return cue + 1


class LacksAClass(Dataset):
    name, n_classes, side = "lacks", 2, 4
    mean = std = (0.5, 0.5, 0.5)

    def readers(self):
        return {"bundled": lambda place: Contents(("a", "b"), self.split(2), self.split(1))}

    def split(self, classes):
        return Split(np.zeros((4, 4, 4, 3), np.uint8), np.arange(4) % classes)


@pytest.mark.parametrize(
    ("check", "broken", "said"),
    [
        (testing.check_method, NeverLearns, "50 % is chance"),
        (testing.check_method, Branches, "test_new.py:[0-9]+: Branches: .* torch.arange instead"),
        (testing.check_method, CountsItsCompany, "a seed's result depends on the others"),
        (testing.check_memory, ChangesAll, "changes what was kept"),
        (testing.check_dataset, LacksAClass, "a class has no test image"),
    ],
)
def test_what_breaks_a_promise_fails_its_check(check, broken, said):
    with pytest.raises(AssertionError, match=said):
        check(broken)
