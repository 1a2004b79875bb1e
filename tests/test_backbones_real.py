"""The packaged backbones on real images: trained weights, read the right way round."""

from pathlib import Path

import pytest

from mirror_folder import mirror
from real_backbones import mini_imagenet, pooled, probe, top_five
from sharc.backbones.resnet50 import ResNet50
from sharc.backbones.vgg16 import VGG16
from sharc.datasets.cifar10 import CIFAR10
from sharc.datasets.raw import RawData
from sharc.errors import UserError
from sharc.stages import download

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cifar10(tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "raw" / "cifar10"
    try:
        download.build(CIFAR10(), out, sources=["npm"], mirror=None, options={})
    except UserError as error:
        pytest.skip(f"CIFAR-10 cannot be fetched here: {error}")
    return RawData(out)


def fetched(backbone):
    try:
        backbone.weights_path()
    except UserError as error:
        pytest.skip(f"the weights of {backbone.name} cannot be fetched here: {error}")
    return backbone


def test_resnet50_has_the_true_class_among_its_first_five_of_a_thousand():
    """300 of the 1,000 images that docs/backbones.md reports: 68.2 % of those, 0.5 % by chance."""
    timm = pytest.importorskip("timm")  # for the order of the classes alone
    if mirror() is None:
        pytest.skip("there is no mirror folder: set SHARC_MIRROR to run this test")
    backbone = fetched(ResNet50())
    listed = Path(timm.__file__).parent / "data" / "_info" / "imagenet_synsets.txt"
    images, synsets = mini_imagenet(mirror(), 300)
    features = pooled(backbone, images, 224)
    assert top_five(backbone, features, synsets, listed.read_text().split()) >= 0.60


def test_a_probe_on_resnet50s_features_tells_cifar10_apart(cifar10):
    """A quarter of the images that docs/backbones.md reports gave 81.5 %, and VGG16's 65.2 %."""
    assert probe(fetched(ResNet50()), cifar10, 128) >= 0.79


def test_a_probe_on_vgg16s_features_tells_cifar10_apart(cifar10):
    assert probe(fetched(VGG16()), cifar10, 64, decay=1e-2) == pytest.approx(0.65, abs=0.025)
