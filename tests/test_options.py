"""Options: one home for each default, held to params.yaml, and every one of them reachable."""

from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from sharc.config import load_params
from sharc.errors import UserError
from sharc.grid import Cell, Variant
from sharc.memories.base import Shape
from sharc.memories.hopfield import Hopfield
from sharc.options.base import NoOptions, parsed, switches
from sharc.options.memories import MEMORIES
from sharc.options.methods import METHODS, MethodOptions, TrainOptions, own_switches
from sharc.options.storage import SharcOptions, StorageOptions
from sharc.pipeline.options import train_settings
from sharc.registry import MEMORIES as MEMORY_NAMES
from sharc.registry import METHODS as METHOD_NAMES
from sharc.registry import load
from sharc.strategies.sgd import SGD

PARAMS = Path(__file__).parent.parent / "params.yaml"
RAW: dict[str, Any] = yaml.safe_load(PARAMS.read_text())
MODELS = {("methods", name): METHODS.get(name, MethodOptions) for name in METHOD_NAMES} | {
    ("memories", name): MEMORIES[name] for name in MEMORY_NAMES
}


@pytest.mark.parametrize(("block", "name"), MODELS)
def test_params_yaml_says_what_the_code_takes_when_it_is_silent(block: str, name: str) -> None:
    model = MODELS[block, name]
    found = RAW[block][name]
    assert found == {key: model.model_fields[key].default for key in found}
    protocol = RAW["protocols"]["paper"]
    set_by_protocol = switches(model)
    assert {key: model.model_fields[key].default for key in set_by_protocol} == {
        key: protocol[switch] for key, switch in set_by_protocol.items()
    }


def test_so_it_is_for_training_and_for_sharc() -> None:
    shared = {key: value for key, value in RAW["train"].items() if key in TrainOptions.model_fields}
    assert shared == TrainOptions().model_dump()
    own = {key: value for key, value in RAW["sharc"].items() if key in SharcOptions.model_fields}
    paper = {switch: RAW["protocols"]["paper"][switch] for switch in switches(StorageOptions)}
    assert own | paper == StorageOptions().model_dump()


@pytest.mark.parametrize(("block", "name"), MODELS)
def test_every_option_is_set_in_its_block_or_by_a_switch_and_nowhere_else(
    block: str, name: str
) -> None:
    model, params = MODELS[block, name], load_params(PARAMS)
    settable = set(type(getattr(getattr(params, block), name)).model_fields)
    shared = set(MethodOptions.model_fields) if block == "methods" else set()
    assert settable == set(model.model_fields) - shared - set(switches(model))
    assert set(switches(model).values()) <= set(type(params.switches).model_fields)


def test_a_class_takes_the_model_that_params_yaml_is_checked_by() -> None:
    for kind, names, models in (
        ("method", METHOD_NAMES, METHODS),
        ("memory", set(MEMORY_NAMES) - {"pooled"}, MEMORIES),
    ):
        for name in names:
            expected = models.get(name, MethodOptions if kind == "method" else NoOptions)
            assert load(kind, name).Options is expected, name


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = PARAMS.read_text()
    assert old in text
    path = tmp_path / "params.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


def test_an_option_that_params_yaml_leaves_out_can_be_set_and_reaches_the_memory(
    tmp_path: Path,
) -> None:
    params = load_params(changed(tmp_path, "hopfield: {steps: 5}", "hopfield: {forget_rate: 1.0}"))
    cell = Cell("digits", "efficientnet_lite0", "er", Variant("hopfield", 0.8), 50)
    recorded = train_settings(params, "er", "hopfield", [cell])["options"]["memory"]
    assert recorded == {"forget_rate": 1.0}
    memory = Hopfield(Shape(1, 8), parsed(Hopfield.Options, recorded, "memory hopfield"))
    memory.write(torch.rand(3, 8), torch.zeros(3, dtype=torch.long))
    memory.forget()
    assert memory.n_floats()["weights"] == 0


def test_an_option_of_the_protocol_is_refused_in_its_methods_block(tmp_path: Path) -> None:
    path = changed(tmp_path, "er: {memory_strength: 1.0}", "er: {replay: full}")
    with pytest.raises(UserError, match=r"methods\.er\.replay: unknown key 'replay'"):
        load_params(path)


def test_a_memory_without_a_model_declares_plain_defaults() -> None:
    class Mine(Hopfield):
        defaults = {"temperature": 2.0}  # noqa: RUF012

    assert Mine(Shape(1, 8)).options["temperature"] == 2.0
    assert Mine(Shape(1, 8), Mine.Options(temperature=3.0, steps=2))  # the base's options stay
    assert "temperature" not in Hopfield.Options.model_fields


def test_a_method_without_a_model_declares_plain_defaults() -> None:
    class Mine(SGD):
        defaults = {"alpha": 0.5}  # noqa: RUF012

    assert Mine.complete({})["alpha"] == 0.5
    assert Mine.complete({"alpha": 0.25, "batch": 5})["alpha"] == 0.25
    with pytest.raises(UserError, match="Did you mean 'alpha'"):
        Mine.complete({"alpa": 1.0})
    with pytest.raises(UserError, match="valid number"):
        Mine.complete({"alpha": "high"})
    assert "alpha" not in SGD.Options.model_fields


def test_no_option_of_a_method_hides_one_that_all_methods_share() -> None:
    for name, model in METHODS.items():
        own = vars(model).get("__annotations__", {})
        assert not set(own) & set(MethodOptions.model_fields), name
    assert own_switches("clser") == {"head": "clser_head"}  # as committed records have it
