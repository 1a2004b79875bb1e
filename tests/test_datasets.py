"""Data sets: whatever the source, the artifact is the same bytes, and it is the right one."""

import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load_file

import small_sources as small
from sharc.artifacts.arrays import mapped, save
from sharc.datasets.base import SOURCES
from sharc.datasets.digits import Digits
from sharc.datasets.mini_imagenet import MiniImageNet
from sharc.datasets.raw import RawData, Split, content_digest, item_digests, write_split
from sharc.errors import UserError
from sharc.registry import DATASETS, load
from sharc.stages import download


def built(dataset, root, source, mirror=None, **options):
    """Build a data set below `root` from one source; the bytes of its three files."""
    out = root / "raw" / dataset.name
    download.build(dataset, out, sources=[source], mirror=mirror, options=options)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def downloads(root, name):
    return root / ".downloads" / name


def test_digest_of_one_black_pixel_with_label_258_worked_by_hand():
    split = Split(np.zeros((1, 1, 1, 3), np.uint8), np.array([258]))
    item = hashlib.sha256(b"\x00\x00\x00" + b"\x02\x01").digest()
    assert item_digests(split) == [item]
    assert content_digest([item]) == hashlib.sha256(item).hexdigest()


def test_content_digest_ignores_the_order_of_items():
    assert content_digest([b"b", b"a"]) == content_digest([b"a", b"b"])


def test_items_are_stored_by_label_then_digest_whatever_order_they_come_in(tmp_path):
    split = small.random_split(3, 4, 5, seed=0)
    order = np.random.default_rng(1).permutation(12)
    shuffled = Split(split.images[order], split.labels[order])
    for name, content in (("a", split), ("b", shuffled)):
        write_split(tmp_path / name, content, item_digests(content))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    stored = load_file(tmp_path / "a")
    assert stored["labels"].tolist() == sorted(split.labels.tolist())
    digests = item_digests(Split(stored["images"], stored["labels"]))
    assert all(digests[at : at + 4] == sorted(digests[at : at + 4]) for at in (0, 4, 8))


def test_tensor_files_are_read_by_the_safetensors_library_and_lazily_by_ours(tmp_path):
    tensors = {
        "a": np.arange(6, dtype=np.float16).reshape(2, 3),
        "b": np.array([7], np.int64),
        "none": np.empty((0, 4), np.float32),
    }
    save(tmp_path / "x.safetensors", tensors)
    for read in (load_file, mapped):
        found = read(tmp_path / "x.safetensors")
        assert all(np.array_equal(found[name], value) for name, value in tensors.items())


@pytest.mark.parametrize("length", [0, 5, 40, 150])
def test_a_cut_tensor_file_is_called_damaged(tmp_path, length):
    path = tmp_path / "x.safetensors"
    save(path, {"a": np.zeros((40,), np.float32)})
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(UserError, match=r"x\.safetensors is damaged"):
        mapped(path)


def test_digits_are_1797_images_split_four_to_one_within_every_class(tmp_path):
    built(Digits(), tmp_path, "bundled")
    raw = RawData(tmp_path / "raw" / "digits")
    train, test = (np.bincount(raw.labels(split)) for split in ("train", "test"))
    assert train.sum() == 1438
    assert test.sum() == 359
    assert np.abs(test / (train + test) - 0.2).max() < 0.01
    images = raw.images("train")
    assert images.shape[1:] == (8, 8, 3)
    assert images.max() == 255
    assert (images[..., 0] == images[..., 2]).all()
    assert raw.meta["classes"][3] == "three"


def test_digits_mean_and_deviation_are_those_of_their_training_images(tmp_path):
    built(Digits(), tmp_path, "bundled")
    pixels = np.asarray(RawData(tmp_path / "raw" / "digits").images("train")) / 255
    assert pixels.mean() == pytest.approx(Digits.mean[0], abs=1e-4)
    assert pixels.std() == pytest.approx(Digits.std[0], abs=1e-4)


def test_cifar10_official_archive_and_npm_package_give_the_same_bytes(tmp_path):
    _, official = small.cifar10_official(downloads(tmp_path / "a", "cifar10"))
    _, npm = small.cifar10_npm(downloads(tmp_path / "b", "cifar10"))
    files = built(official, tmp_path / "a", "official")
    assert files == built(npm, tmp_path / "b", "npm")
    meta = json.loads(files["meta.json"])
    assert meta["classes"][9] == "truck"
    assert meta["splits"]["train"]["per_class"] == [5] * 10


def test_cifar100_official_archive_and_shuffled_mirror_give_the_same_bytes(tmp_path):
    _, official = small.cifar100_official(downloads(tmp_path / "a", "cifar100"))
    _, mirrored = small.cifar100_mirror(tmp_path / "mirror")
    files = built(official, tmp_path / "a", "official")
    assert files == built(mirrored, tmp_path / "b", "mirror", tmp_path / "mirror")
    assert json.loads(files["meta.json"])["classes"][::33] == ["apple", "forest", "raccoon", "worm"]


def test_mini_imagenet_folder_and_mirror_give_the_same_bytes(tmp_path):
    mirrored = small.mini_mirror(tmp_path / "mirror")
    folder = small.mini_folder(downloads(tmp_path / "a", "mini_imagenet"))
    files = built(folder, tmp_path / "a", "folder")
    assert files == built(mirrored, tmp_path / "b", "mirror", tmp_path / "mirror")
    assert json.loads(files["meta.json"])["classes"][1] == "n00000001"


def test_tiny_imagenet_archive_and_folder_give_the_same_bytes_grey_images_included(tmp_path):
    _, official = small.tiny_official(downloads(tmp_path / "a", "tiny_imagenet"))
    folder = small.tiny_folder(downloads(tmp_path / "b", "tiny_imagenet"))
    files = built(official, tmp_path / "a", "official")
    assert files == built(folder, tmp_path / "b", "folder")
    assert json.loads(files["meta.json"])["splits"]["test"]["items"] == 3


@pytest.mark.parametrize("name", DATASETS)
def test_every_registered_data_set_states_what_it_is(name):
    dataset = load("dataset", name)()
    assert dataset.name == name
    assert dataset.n_classes in (10, 100, 200)
    assert set(dataset.sources) <= set(SOURCES)
    assert set(dataset.expected({})) == {"train", "test"}
    assert all(0 < value < 1 for value in (*dataset.mean, *dataset.std))


def test_mini_imagenet_takes_500_or_250_training_images_per_class():
    assert MiniImageNet().expected({"train_per_class": 250})["train"].items == 25_000
    assert MiniImageNet().expected({})["train"].items == 50_000
    with pytest.raises(UserError, match="train_per_class is 300: 500 or 250 expected"):
        MiniImageNet().expected({"train_per_class": 300})
