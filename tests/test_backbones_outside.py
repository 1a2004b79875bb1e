"""Architectures of torchvision and timm with a weight file of the user's own."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.functional import adaptive_avg_pool2d

from sharc.backbones.made import ADDED, make_backbone
from sharc.backbones.outside import OutsideBackbone, cut_before_pooling
from sharc.config import load_params
from sharc.errors import UserError
from sharc.pipeline.features import frozen_settings

PARAMS = Path(__file__).parent.parent / "params.yaml"


def weights_of(path, make):
    torch.manual_seed(0)
    network = make().eval()
    torch.save(network.state_dict(), path)
    return network


def test_a_torchvision_network_with_a_weight_file_gives_what_it_pools_itself(tmp_path):
    from torchvision.models import mobilenet_v3_small

    network = weights_of(tmp_path / "w.pth", mobilenet_v3_small)
    images, pooled = torch.randn(2, 3, 64, 64), []
    network.avgpool.register_forward_hook(lambda _m, given, _out: pooled.append(given[0]))
    with torch.no_grad():
        network(images)
        maps = OutsideBackbone("mine", "torchvision", "mobilenet_v3_small", tmp_path / "w.pth")
        torch.testing.assert_close(maps.load(64)(images), pooled[0])


def test_a_timm_network_brings_its_own_normalisation(tmp_path):
    timm = pytest.importorskip("timm")
    network = weights_of(tmp_path / "w.pth", lambda: timm.create_model("tf_efficientnet_lite0"))
    backbone = OutsideBackbone("mine", "timm", "tf_efficientnet_lite0", tmp_path / "w.pth")
    assert backbone.mean == (0.5, 0.5, 0.5)
    images = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        torch.testing.assert_close(backbone.load(64)(images), network.forward_features(images))


class Means(nn.Module):
    def forward(self, x):
        return (2 * x).mean([2, 3])


class Functional(nn.Module):
    def forward(self, x):
        return torch.flatten(adaptive_avg_pool2d(2 * x, (1, 1)), 1)


@pytest.mark.parametrize("network", [Means(), Functional()])
def test_a_mean_over_height_and_width_is_a_pooling_too(network):
    x = torch.randn(1, 2, 3, 3)
    torch.testing.assert_close(cut_before_pooling(network)(x), 2 * x)


def test_a_network_that_pools_no_map_is_refused_with_what_to_do(tmp_path):
    backbone = OutsideBackbone("mine", "torchvision", "vit_b_16", tmp_path / "w.pth")
    with pytest.raises(UserError, match=r"backbones\.mine: vit_b_16 .* no pooling .*`map_of`"):
        backbone.map_of(nn.Linear(2, 2))


def test_a_timm_network_without_a_map_is_refused(tmp_path):
    timm = pytest.importorskip("timm")
    backbone = OutsideBackbone("mine", "timm", "vit_tiny_patch16_224", tmp_path / "w.pth")
    network = timm.create_model("vit_tiny_patch16_224", depth=1)
    with pytest.raises(UserError, match=r"backbones\.mine gives \(1, 197, 192\), not a map of 192"):
        backbone.map_of(network)(torch.zeros(1, 3, 224, 224))


def test_an_unknown_architecture_names_the_nearest(tmp_path):
    backbone = OutsideBackbone("mine", "torchvision", "resnet81", tmp_path / "w.pth")
    with pytest.raises(UserError, match=r"architecture of torchvision 'resnet81'. Did you mean"):
        backbone.architecture(64)


def test_without_timm_its_architectures_name_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(UserError, match="needs the package timm: pip install timm"):
        OutsideBackbone("mine", "timm", "resnet18", tmp_path / "w.pth")


def test_weights_of_another_architecture_are_refused(tmp_path):
    torch.save({"fc.weight": torch.zeros(2, 2)}, tmp_path / "w.pth")
    backbone = OutsideBackbone("mine", "torchvision", "squeezenet1_1", tmp_path / "w.pth")
    with pytest.raises(UserError, match=r"w\.pth is not of the architecture mine"):
        backbone.load(64)


def params_with(tmp_path, backbone, text="{torchvision: squeezenet1_1, weights: w.pth}"):
    """The demo with a backbone that params.yaml adds."""
    raw = PARAMS.read_text().replace(
        "\nprotocols:", f"\nbackbones: {{mine: {text}}}\n\nprotocols:", 1
    )
    raw = raw.replace("backbone: efficientnet_lite0", f"backbone: {backbone}", 1)
    (tmp_path / "params.yaml").write_text(raw)
    return load_params(tmp_path / "params.yaml")


def test_one_line_of_params_yaml_makes_a_backbone_of_a_weight_file(tmp_path):
    from torchvision.models import squeezenet1_1

    weights_of(tmp_path / "w.pth", squeezenet1_1)
    settings = frozen_settings(params_with(tmp_path, "mine"))
    backbone, rest = make_backbone("mine", settings)
    assert backbone.name == "mine"
    assert backbone.load(64)(torch.zeros(1, 3, 64, 64)).shape == (1, 1000, 3, 3)
    assert ADDED not in rest


def test_features_depend_on_the_weights_content(tmp_path):
    (tmp_path / "w.pth").write_bytes(b"one")
    before = frozen_settings(params_with(tmp_path, "mine"))
    (tmp_path / "w.pth").write_bytes(b"two")
    assert frozen_settings(params_with(tmp_path, "mine")) != before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{torchvision: resnet18}", "an architecture and its weights belong together"),
        ("{torchvision: resnet18, timm: resnet18, weights: w}", "of torchvision or of timm, not"),
        ("{torchvision: resnet18, wieghts: w}", "unknown key 'wieghts'. Did you mean 'weights'?"),
    ],
)
def test_a_block_that_is_not_whole_is_refused(tmp_path, text, message):
    with pytest.raises(UserError) as error:
        params_with(tmp_path, "mine", text)
    assert message in str(error.value)
    assert "backbones.mine" in str(error.value)


def test_a_weight_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=r"backbones\.mine\.weights: .*w\.pth does not exist"):
        frozen_settings(params_with(tmp_path, "mine"))
