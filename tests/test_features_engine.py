"""Engines: the same features as the plain way, whatever runs them."""

import numpy as np
import pytest
import torch
from torchvision.transforms import v2

from sharc.backbones.efficientnet_lite import Lite0
from sharc.backbones.resnet18 import ResNet18
from sharc.backbones.vgg16_bn import VGG16BN
from sharc.errors import UserError
from sharc.features.augment import PADDING, Views
from sharc.features.engines import OnnxEngine, TorchEngine, choose_device, choose_engine, example
from sharc.features.folding import fold_batchnorm
from sharc.features.onnx_graph import to_onnx
from sharc.features.onnx_operations import UnsupportedOperationError
from sharc.features.pipeline import Extractor, resize_matrix
from small_backbone import small_backbone

MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2615)
TOLERANCE = 1e-4  # of the largest pooled entry


def noise(count, side, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def distance(found, right):
    """Largest difference, relative to the largest entry."""
    found, right = found.astype(np.float32), right.astype(np.float32)
    return np.abs(found - right).max() / np.abs(right).max()


def extractor_of(module, side, size):
    return Extractor(module, side, size).normalised_with(MEAN, STD).eval()


@pytest.mark.parametrize(("native", "size"), [(32, 128), (32, 224), (84, 128), (8, 64), (64, 32)])
def test_two_matrix_products_equal_the_papers_one_image_preprocessing(native, size):
    images = noise(3, native)
    steps = v2.Compose(
        [
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
            v2.Resize((size, size), antialias=True),
        ]
    )
    expected = torch.stack([steps(image) for image in images])
    found = extractor_of(torch.nn.Identity(), native, size).prepared(torch.from_numpy(images))
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-6)


def test_resize_matrix_of_two_pixels_to_four_worked_by_hand():
    expected = torch.tensor([[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]])
    torch.testing.assert_close(resize_matrix(2, 4), expected)


def test_pooled_is_the_spatial_mean_and_maps_have_their_channels_last():
    extractor = extractor_of(torch.nn.Identity(), 8, 8)
    pooled, maps = extractor(torch.from_numpy(noise(2, 8)))
    assert pooled.dtype == torch.float32
    assert maps.dtype == torch.float16
    assert maps.shape == (2, 8, 8, 3)
    torch.testing.assert_close(maps.float().mean((1, 2)), pooled, rtol=1e-3, atol=1e-3)


def test_folding_removes_every_batchnorm_and_keeps_the_function(tmp_path):
    module = small_backbone(tmp_path / "w.pth").load(16)
    images = torch.randn(2, 3, 16, 16)
    expected = module(images)
    folded = fold_batchnorm(module, images)
    assert not any(isinstance(part, torch.nn.BatchNorm2d) for part in folded.modules())
    torch.testing.assert_close(folded(images), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("backbone", [Lite0(), ResNet18(), VGG16BN()], ids=lambda one: one.name)
def test_both_engines_agree_with_the_plain_network(backbone):
    torch.manual_seed(0)
    network = backbone.architecture(64)
    if backbone.name == "efficientnet_lite0":
        network = backbone.load(64).network
    module = backbone.map_of(network).eval().requires_grad_(False)
    images = noise(5, 32)
    expected = extractor_of(module, 32, 64)(torch.from_numpy(images))
    folded = fold_batchnorm(extractor_of(module, 32, 64), example(32))
    for engine in (OnnxEngine(folded, 32, 2, 2), TorchEngine(folded, "cpu", 2, 1)):
        pooled, maps = engine.features(images)
        assert distance(pooled, expected[0].numpy()) < TOLERANCE
        assert distance(maps, expected[1].numpy()) < 2e-3  # fp16 has eleven bits


def test_the_onnx_graph_is_the_same_bytes_each_time(tmp_path):
    module = extractor_of(small_backbone(tmp_path / "w.pth").load(16), 8, 16)
    fold_batchnorm(module, example(8))
    assert to_onnx(module, example(8)) == to_onnx(module, example(8))


def test_onnx_features_do_not_depend_on_batch_or_threads():
    folded = fold_batchnorm(extractor_of(Lite0().load(64), 8, 64), example(8))
    images = noise(13, 8)
    first = OnnxEngine(folded, 8, 8, 1).features(images)
    second = OnnxEngine(folded, 8, 5, 2).features(images)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


class _Untranslatable(torch.nn.Module):
    def forward(self, images):
        return torch.erf(images)


def test_a_network_onnx_cannot_express_runs_in_torch_unless_onnx_was_asked_for():
    def chosen(engine):
        module = extractor_of(_Untranslatable(), 8, 8)
        return choose_engine(module, 8, engine=engine, device="cpu", batch=2, threads=1)

    assert chosen("auto").name == "torch"
    with pytest.raises(UserError, match=r"cannot translate aten\.erf\.default"):
        chosen("onnx")


def test_padding_that_is_not_part_of_a_convolution_is_not_translated():
    with pytest.raises(UnsupportedOperationError, match="pad"):
        to_onnx(extractor_of(torch.nn.ZeroPad2d(1), 8, 8), example(8))


def test_max_pool_and_padding_before_a_convolution_are_translated():
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.ZeroPad2d((0, 1, 2, 3)),
        torch.nn.Conv2d(3, 4, 3, padding=1, groups=1),
        torch.nn.MaxPool2d(3, stride=2, padding=1),
        torch.nn.ReLU6(),
        torch.nn.MaxPool2d(2),
    ).requires_grad_(False)
    extractor = extractor_of(module, 8, 16)
    images = noise(3, 8)
    found = OnnxEngine(extractor, 8, 2, 1).features(images)[0]
    expected = extractor(torch.from_numpy(images))[0].numpy()
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_cuda_where_there_is_none_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=r"features\.device is cuda, but there is no"):
        choose_device("cuda")
    assert choose_device("auto") == torch.device("cpu")


def test_onnx_on_a_gpu_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(UserError, match="onnx runs only on the CPU"):
        choose_engine(None, 8, engine="onnx", device="cuda", batch=1, threads=1)


def test_a_view_is_a_shifted_and_possibly_mirrored_image_on_black():
    images = noise(40, 8)
    rows = np.arange(40)
    views = Views(40, view=1, seed=0)
    found = views.of(images, rows)
    padded = np.pad(images, ((0, 0), (PADDING,) * 2, (PADDING,) * 2, (0, 0)))
    for at in rows:
        down, across = views._offsets[at]
        crop = padded[at, down : down + 8, across : across + 8]
        assert np.array_equal(found[at], crop[:, ::-1] if views._flips[at] else crop)
    assert 5 < views._flips.sum() < 35
    assert views._offsets.max() == 2 * PADDING
    assert views._offsets.min() == 0


def test_a_view_depends_on_seed_and_number_alone_not_on_the_chunk():
    images = noise(10, 8)
    whole = Views(10, 1, 0).of(images, np.arange(10))
    part = Views(10, 1, 0).of(images[4:7], np.arange(4, 7))
    assert np.array_equal(whole[4:7], part)
    for other in (Views(10, 2, 0), Views(10, 1, 1)):
        assert not np.array_equal(whole, other.of(images, np.arange(10)))
