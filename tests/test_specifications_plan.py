"""From factors in params.yaml to the arms of every specification."""

from pathlib import Path

import pytest
import yaml

from sharc.config import load_params
from sharc.errors import UserError
from sharc.pipeline.specification_runs import stream_specs
from sharc.specifications.plan import plan

PARAMS = Path(__file__).parent.parent / "params.yaml"
FACTORS = {
    "backbone": {"key": "backbone", "values": ["efficientnet_lite0", "resnet50", "vgg16"]},
    "fill": {"key": "sharc.memory", "values": ["bayes_pcn", "none"]},
    "channels": {"key": "protocols.paper.saliency", "values": ["abs_gt", "random", "relu_ge"]},
    "kept": {"key": "protocols.paper.buffer_rule", "values": ["last", "ring"]},
    "learning rate": {"key": "train.learning_rate", "values": [0.02, 0.1, "selected"]},
    "θ": {"key": "theta", "values": [0.5, 0.8, "selected"]},
    "method": {"key": "method", "values": ["er", "gem"]},
}


def params_with(tmp_path, factors=FACTORS, sample=20, select=True, share=0.1, **more):
    raw = yaml.safe_load(PARAMS.read_text())
    block = {"sample": sample, "seed": 1, "train_images": None, "test_images": None, **more}
    block["factors"] = {name: {"why": "a test", **factor} for name, factor in factors.items()}
    suite = {k: v for k, v in raw["suites"]["demo"].items() if k not in {"memories", "thetas"}}
    raw["suites"]["choices"] = suite | {"specifications": block}
    raw["suite"] = "choices"
    if select:
        raw["data"]["validation_share"] = share
        select = {"theta": [0.5, 0.8], "learning_rate": [0.02, 0.1]}
        raw["suites"]["choices"]["select"] = select
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(raw, allow_unicode=True))
    return load_params(path)


def arms_where(made, **choices):
    """The arms of the first specification with these choices, by their names."""
    spec = next(s for s in made.design.all if all(s.choices[n] == v for n, v in choices.items()))
    return {arm.name: arm for arm in made.arms[spec.id]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return plan(params_with(tmp_path_factory.mktemp("params")))


def test_the_default_compares_the_method_with_sharc_and_two_controls(made):
    default = made.design.one_at_a_time[0]
    arms = {arm.name: arm for arm in made.arms[default.id]}
    assert list(arms) == ["plain", "sharc", "random", "zeros"]
    assert arms["plain"].cell.variant.name == "dense"
    assert arms["sharc"].cell.variant.name == "bayes_pcn-t0.5"
    assert arms["zeros"].cell.variant.name == "none-t0.5"
    assert arms["sharc"].params.switches.saliency == "abs_gt"
    assert arms["random"].params.switches.saliency == "random"
    assert {arm.cell.method for arm in arms.values()} == {"er"}


def test_a_control_that_is_the_choice_itself_has_no_arm(made):
    assert "zeros" not in arms_where(made, fill="none")
    assert "random" not in arms_where(made, channels="random")


def test_a_suite_that_asks_for_the_gain_alone_has_no_controls(tmp_path):
    asked = plan(params_with(tmp_path, questions=["gain"]))
    assert {arm.name for arms in asked.arms.values() for arm in arms} == {"plain", "sharc"}


def test_a_choice_reaches_the_parameters_and_the_cell(made):
    arms = arms_where(made, backbone="vgg16", method="gem")
    assert (arms["sharc"].cell.backbone, arms["plain"].cell.method) == ("vgg16", "gem")
    assert arms_where(made, **{"learning rate": 0.1})["plain"].params.train.learning_rate == 0.1
    assert arms_where(made, θ=0.8)["sharc"].params.sharc.theta.task_il == 0.8


def test_a_selected_theta_is_no_matter_of_the_arm_without_sharc(made):
    arms = arms_where(made, **{"θ": "selected", "learning rate": "selected"})
    assert arms["plain"].selects == ("learning_rate",)
    assert sorted(arms["sharc"].selects) == ["learning_rate", "theta"]
    assert arms_where(made, **{"θ": 0.5, "learning rate": 0.02})["sharc"].selects == ()


def test_a_combination_the_model_refuses_is_listed_with_the_models_words(made):
    refused = [(spec.choices, why) for spec, why in made.design.illegal]
    assert refused
    for choices, why in refused:
        assert (choices["channels"], choices["kept"]) == ("relu_ge", "ring")
        assert "buffer_rule ring needs examples that all cost the same" in why
    assert len(made.design.sample) == 20


def test_what_is_too_expensive_is_listed_with_its_reason(tmp_path):
    excluded = [{"when": {"backbone": "vgg16", "method": "gem"}, "why": "hours per run"}]
    made = plan(params_with(tmp_path, excluded=excluded))
    reasons = [why for spec, why in made.design.illegal if spec.choices["method"] == "gem"]
    assert "hours per run" in reasons
    assert not [s for s in made.design.all if s.choices["backbone"] == "vgg16"
                and s.choices["method"] == "gem"]  # fmt: skip


def test_an_exclusion_may_list_several_values_of_a_factor(tmp_path):
    when = {"backbone": ["vgg16", "resnet50"], "method": "gem"}
    made = plan(params_with(tmp_path, excluded=[{"when": when, "why": "hours per run"}]))
    assert {s.choices["backbone"] for s in made.design.all if s.choices["method"] == "gem"} == {
        "efficientnet_lite0"
    }


@pytest.mark.parametrize(
    ("name", "key", "values", "message"),
    [
        ("pace", "train.learning_rte", [0.1, 1], "unknown parameter 'train.learning_rte'. Did you"),
        ("pace", "train.learning_rate", [0.1, -1], r"pace: value -1: train\.learning_rate: Input"),
        ("net", "backbone", ["efficientnet_lite0", "vgg61"], r"net: value 'vgg61': .*vgg16"),
        ("pace", "select", [0.1, 1], "unknown parameter 'select'"),
    ],
)
def test_an_unknown_parameter_or_illegal_value_is_named(tmp_path, name, key, values, message):
    with pytest.raises(UserError, match=message) as error:
        plan(params_with(tmp_path, {"m": FACTORS["method"], name: {"key": key, "values": values}}))
    assert "suites.choices.specifications.factors" in str(error.value)


def test_two_factors_over_one_key_are_refused(tmp_path):
    twice = {"a": FACTORS["fill"], "b": FACTORS["fill"]}
    with pytest.raises(UserError, match=r"a and b both set sharc\.memory"):
        plan(params_with(tmp_path, twice, sample=2))


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ({"backbnoe": "vgg16", "fill": "none"}, "unknown factor 'backbnoe'. Did you mean"),
        ({"backbone": "vgg19", "fill": "none"}, "backbone: unknown value 'vgg19'. Did you mean"),
    ],
)
def test_an_exclusion_of_what_is_no_choice_is_refused(tmp_path, when, message):
    with pytest.raises(UserError, match=message):
        plan(params_with(tmp_path, excluded=[{"when": when, "why": "x"}]))


def test_selected_needs_values_to_select_from(tmp_path):
    with pytest.raises(UserError, match=r"list them under suites\.choices\.select\.learning_rate"):
        plan(params_with(tmp_path, select=False))


def test_select_without_held_out_images_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"data\.validation_share is 0; set it above 0"):
        params_with(tmp_path, share=0.0)


def test_select_without_a_factor_to_read_it_is_refused(tmp_path):
    text = PARAMS.read_text().replace("  demo:", "  demo:\n    select: {theta: [0.5]}", 1)
    (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(UserError, match="this suite has no such block"):
        load_params(tmp_path / "params.yaml")


def test_a_suite_without_the_block_says_so():
    with pytest.raises(UserError, match=r"suites\.demo has no block `specifications`"):
        plan(load_params(PARAMS, "demo"))


def test_a_factor_too_expensive_to_combine_is_at_its_default_in_the_sample(tmp_path):
    alone = FACTORS["learning rate"] | {"alone": True}
    made = plan(params_with(tmp_path, FACTORS | {"learning rate": alone}))
    varied = [spec.choices["learning rate"] for spec in made.design.one_at_a_time]
    assert {0.02, 0.1, "selected"} == set(varied)
    assert {spec.choices["learning rate"] for spec in made.design.sample} == {0.02}


def test_class_orders_share_the_features_of_a_frozen_backbone_but_not_of_one_that_drifts(tmp_path):
    order = {"key": "data.class_order", "values": ["ascending", 1]}
    norm = {"key": "protocols.paper.bn_mode", "values": ["eval", "train"]}
    made = params_with(tmp_path, {"order": order, "BatchNorm": norm}, sample=4, select=False)
    streams = stream_specs(made).values()
    assert len({stream.split for stream in streams}) == 2
    frozen, drifting = (
        {s.features for s in streams if s.params.switches.bn_mode == mode}
        for mode in ("eval", "train")
    )
    assert (len(frozen), len(drifting)) == (1, 2)
