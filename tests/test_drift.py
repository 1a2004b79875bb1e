"""BatchNorm that trains along: what a stream does to the features, and how they are cached."""

import json

import numpy as np
import pytest
import torch

from sharc.artifacts.files import write_json
from sharc.engine.runs import RunSpec
from sharc.engine.sampling import task_order
from sharc.errors import UserError
from sharc.features.cache import FeatureCache
from sharc.features.drift import Drift
from sharc.features.pipeline import Extractor
from sharc.features.streams import load_stream
from sharc.registry import load
from sharc.stages import drift
from sharc.trainer.train import train
from small_backbone import small_backbone, small_raw

SETTINGS = {
    "image_size": 16,
    "normalisation": "own",
    "views": 0,
    "seeds": [0, 3],
    "batch": 3,
    "passes": [1, 2],
    "joint": True,
    "device": "cpu",
}


@pytest.fixture
def folder(tmp_path):
    """Twenty training and seven test images of three classes, one class per task."""
    small_raw(tmp_path / "raw")
    labels = {"train": np.arange(20) * 3 // 20, "test": np.arange(7) * 3 // 7}
    tasks = [
        {"classes": [c], **{s: np.flatnonzero(labels[s] == c).tolist() for s in labels}}
        | {"validation": []}
        for c in range(3)
    ]
    write_json(tmp_path / "split.json", {"tasks": tasks})
    return tmp_path


def build(folder, **changes):
    backbone = small_backbone(folder / "weights.pth")
    out = folder / "features"
    drift.build(folder / "raw", folder / "split.json", out, backbone, **(SETTINGS | changes))
    return FeatureCache(out)


def extractor(folder):
    backbone = small_backbone(folder / "weights.pth")
    made = Extractor(backbone.load(16), 8, 16)
    return made.normalised_with(backbone.mean, backbone.std).eval()


def images(count, seed=0):
    draws = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (count, 8, 8, 3), generator=draws, dtype=torch.uint8)


def test_an_image_looks_different_in_another_batch_and_the_same_to_a_frozen_network(folder):
    moving, frozen = Drift(extractor(folder), [1]), extractor(folder)
    one, other, alone = images(4), torch.cat([images(1), images(3, seed=1)]), images(1)
    assert not torch.allclose(moving.step(one)[0][0], moving.step(other)[0][0], atol=1e-3)
    assert torch.allclose(frozen(one)[0][0], frozen(alone)[0][0], atol=1e-5)


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_the_statistics_are_those_of_a_plain_network_shown_each_batch_so_often(folder, passes):
    moving, plain = Drift(extractor(folder), [passes]), extractor(folder)
    for seed in range(3):
        moving.step(images(5, seed))
        plain.backbone.train()
        for _ in range(passes):
            plain(images(5, seed))
    plain.eval()
    test = images(6, seed=9)
    torch.testing.assert_close(moving.test(test, passes), plain(test)[0], atol=1e-5, rtol=1e-4)


def test_a_restart_forgets_the_stream(folder):
    moving, test = Drift(extractor(folder), [1]), images(6)
    before = moving.test(test, 1)
    moving.step(images(5, seed=1))
    assert not torch.allclose(moving.test(test, 1), before)
    moving.restart()
    assert torch.equal(moving.test(test, 1), before)


def test_a_network_without_batchnorm_is_refused(folder):
    made = extractor(folder)
    made.backbone = torch.nn.Conv2d(3, 4, 3)
    with pytest.raises(UserError, match="needs a backbone with BatchNorm layers"):
        Drift(made, [1])


def test_every_seed_has_the_features_of_its_own_order_and_test_features_of_every_moment(folder):
    cache = build(folder)
    assert cache.seeds == [0, 3]
    assert not torch.equal(cache.train_pooled(0), cache.train_pooled(3))
    first = cache.drifted_test(0, 2, 1)
    assert first[:3].abs().sum() > 0  # task 1 has three test images
    assert first[3:].abs().sum() == 0  # the others were not looked at yet
    assert not torch.allclose(first[:3], cache.drifted_test(0, 2, 3)[:3], atol=1e-3)
    assert torch.equal(cache.drifted_test(0, 1, 0), cache.drifted_test(3, 2, 0))  # before training


def test_the_batches_are_those_that_the_engine_will_train_on(folder):
    cache = build(folder)
    order = task_order(3, 0, torch.arange(7))[:6]  # seven images, batches of three
    moving = Drift(extractor(folder), [1])
    raw = torch.from_numpy(np.array(drift.RawData(folder / "raw").images("train")))
    pooled, maps = moving.step(raw[order[:3]])
    torch.testing.assert_close(cache.train_pooled(3)[order[:3]], pooled)
    torch.testing.assert_close(cache.rows(order[:3], 3), maps.float())


def test_runs_train_on_their_own_features_and_are_tested_on_those_of_the_moment(folder):
    build(folder)
    for method, joint in (("sgd", False), ("joint", True)):
        stream = load_stream(folder / "features", folder / "split.json", 1, joint=joint)
        runs = [RunSpec(0), RunSpec(3)]
        together = train(stream, runs, load("method", method), {"batch": 3}, None)
        (alone,) = train(stream, runs[1:], load("method", method), {"batch": 3}, None)
        assert np.array_equal(
            together[1].accuracy.class_il, alone.accuracy.class_il, equal_nan=True
        )


def test_a_further_seed_leaves_the_others_as_they_are(folder):
    build(folder)
    before = {p.name: p.stat().st_mtime_ns for p in (folder / "features").glob("*view*")}
    assert build(folder, seeds=[0, 3, 5]).seeds == [0, 3, 5]
    after = {p.name: p.stat().st_mtime_ns for p in (folder / "features").glob("*view*")}
    assert before.items() < after.items()
    claimed = json.loads((folder / "features" / "meta.json").read_text())["chunks"]
    assert claimed.keys() == after.keys()
