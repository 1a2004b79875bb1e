"""params.yaml: what is refused, and whether the message helps."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharc.config import load_params
from sharc.config.load import overridden
from sharc.errors import UserError

PARAMS = Path(__file__).parent.parent / "params.yaml"


def refused(tmp_path: Path, old: str, new: str, suite: str | None = None) -> str:
    """The message for params.yaml with one place changed."""
    text = PARAMS.read_text()
    assert old in text
    path = tmp_path / "params.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError) as error:
        load_params(path, suite)
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("suite", list(yaml.safe_load(PARAMS.read_text())["suites"]))
def test_every_suite_in_the_file_is_valid(suite: str):
    assert load_params(PARAMS, suite).suite == suite


def test_the_demo_is_the_default_and_its_settings_override_the_blocks():
    params = load_params(PARAMS)
    assert params.suite == "demo"
    assert params.features.image_size == 64  # 224 in the block, 64 in the suite's settings


def test_an_unknown_key_names_its_neighbour(tmp_path: Path):
    message = refused(tmp_path, "views: 0", "viws: 0")
    assert "features.viws: unknown key 'viws'. Did you mean 'views'?" in message


def test_a_wrong_type_is_not_converted(tmp_path: Path):
    message = refused(tmp_path, "learning_rate: 0.1", "learning_rate: fast", "offline")
    assert "train.learning_rate" in message
    assert "got 'fast'" in message


def test_a_value_out_of_range_says_the_range(tmp_path: Path):
    message = refused(tmp_path, "task_il: 0.8", "task_il: 1.8")
    assert "sharc.theta.task_il: Input should be less than or equal to 1 (got 1.8)" in message


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("suite: demo", "suite: dmo", "Did you mean 'demo'?"),
        ("[sgd, joint, er,", "[sgd, joint, eer,", "Did you mean 'er'?"),
        ("datasets: [digits]", "datasets: [digit]", "Did you mean 'digits'?"),
        ("memory: bayes_pcn", "memory: bayespcn", "Did you mean 'bayes_pcn'?"),
        ("  features.image_size: 64", "  features.image_sise: 64", "Did you mean 'image_size'?"),
        ("gem: {margin: 0.5", "gem: {margn: 0.5", "Did you mean 'margin'?"),
        ("  features.image_size: 64", "  feature.image_size: 64", "Did you mean 'features'?"),
    ],
)
def test_a_misspelt_name_names_its_neighbour(tmp_path: Path, old: str, new: str, hint: str):
    assert hint in refused(tmp_path, old, new)


@pytest.mark.parametrize("name", ["../../etc", "er; rm -rf x", "a/b", "$(id)"])
def test_a_name_that_could_leave_its_folder_or_reach_a_shell_is_refused(tmp_path: Path, name: str):
    assert "unknown value" in refused(tmp_path, "datasets: [digits]", f"datasets: ['{name}']")


def test_a_setting_of_a_suite_is_named_where_it_stands(tmp_path: Path):
    message = refused(tmp_path, "features.image_size: 64", "features.image_size: 5")
    assert "suites.demo.set.features.image_size" in message


def test_a_misspelt_block_is_named_though_the_suite_sets_something_in_it(tmp_path: Path):
    message = refused(tmp_path, "\nfeatures:", "\nfeature:")
    assert "  feature: unknown key 'feature'. Did you mean 'features'?" in message
    assert "  features: this key is missing" in message
    assert "suites.demo.set" not in message
    deeper = refused(tmp_path, "  paper:\n    read", "  papr:\n    read")
    assert "  protocols.papr: unknown key 'papr'. Did you mean 'paper'?" in deeper


def test_a_setting_in_a_block_that_is_not_there_is_refused(tmp_path: Path):
    message = refused(tmp_path, "features.image_size: 64", "backbones.image_size: 64")
    assert "suites.demo.set: backbones.image_size: unknown key 'backbones'" in message


def test_a_value_that_the_suite_overrides_must_be_legal_too(tmp_path: Path):
    message = refused(tmp_path, "learning_rate: 0.1", "learning_rate: fast")
    assert "  train.learning_rate: Input should be a valid number" in message
    assert "(got 'fast')" in message


def test_what_a_suite_overrides_is_said_with_both_values(tmp_path: Path):
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS.read_text().replace("learning_rate: 0.1", "learning_rate: 0.5", 1))
    params = load_params(path)
    assert params.train.learning_rate == 0.02
    assert overridden(params, path) == {
        "features.image_size": (64, 224),
        "protocols.paper.normalisation": ("own", "dataset"),
        "train.learning_rate": (0.02, 0.5),
    }
    assert overridden(load_params(path, "paper"), path) == {}


def test_a_number_in_place_of_a_list_is_answered_with_a_list(tmp_path: Path):
    message = refused(tmp_path, "seeds: [0, 1, 2, 3, 4]", "seeds: 5")
    assert (
        "suites.demo.seeds: Input should be a valid list, for example [0, 1, 2] (got 5)" in message
    )
    assert "for example [digits] (got 'digits')" in refused(tmp_path, "[digits]", "digits")


def test_a_yaml_tag_is_refused_and_not_executed(tmp_path: Path):
    trap = tmp_path / "executed"
    command = f"!!python/object/apply:os.system ['touch {trap}']"
    assert "not readable as plain YAML" in refused(tmp_path, "suite: demo", f"suite: {command}")
    assert not trap.exists()


def test_a_key_written_twice_is_refused(tmp_path: Path):
    assert "duplicate key 'suite'" in refused(tmp_path, "suite: demo", "suite: demo\nsuite: paper")


def test_a_missing_file_says_where_to_be(tmp_path: Path):
    with pytest.raises(UserError, match="does not exist"):
        load_params(tmp_path / "params.yaml")


def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path):
    (tmp_path / "params.yaml").write_text("just words")
    with pytest.raises(UserError, match="must hold keys and values"):
        load_params(tmp_path / "params.yaml")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(str.encode)))
def test_no_content_makes_the_reader_fail_in_another_way(tmp_path: Path, content: bytes):
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    with pytest.raises(UserError):
        load_params(path)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)))
def test_no_value_of_a_block_makes_the_reader_fail_in_another_way(tmp_path: Path, value: object):
    import yaml

    raw = yaml.safe_load(PARAMS.read_text())
    path = tmp_path / "params.yaml"
    for block in ("suites", "train", "datasets", "methods", "suite"):
        path.write_text(yaml.safe_dump(raw | {block: value}))
        with pytest.raises(UserError):
            load_params(path)
