"""Feature cache: complete or absent, resumed where it stopped, read row by row."""

import errno
import json

import numpy as np
import pytest
import torch
from safetensors import safe_open

from sharc.artifacts.files import write_json
from sharc.errors import UserError
from sharc.features import chunks, engines
from sharc.features.cache import FeatureCache
from sharc.features.chunks import chunk_rows
from sharc.stages import features
from small_backbone import small_backbone, small_raw

SETTINGS = {
    "image_size": 16,
    "normalisation": "own",
    "views": 0,
    "maps_share": 1.0,
    "engine": "auto",
    "batch": 4,
    "threads": 2,
    "device": "cpu",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Raw data of 20 + 7 images, chunks of six rows, and a backbone."""
    monkeypatch.setattr(features, "chunk_rows", lambda shape: 6)
    small_raw(tmp_path / "raw")
    return tmp_path


def build(folder, out="features", seed=0, **changes):
    backbone = small_backbone(folder / f"weights{seed}.pth", seed)
    features.build(folder / "raw", folder / out, backbone, **(SETTINGS | changes))
    return FeatureCache(folder / out)


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


FIRST = "train-view0-0000"


class Counter:
    """Counts the images that went through the engine, and may fail after some."""

    def __init__(self, monkeypatch, fail_after=None):
        self.images, self.fail_after = 0, fail_after
        original = engines.OnnxEngine.features

        def counted(engine, images):
            if self.fail_after is not None and self.images >= self.fail_after:
                raise KeyboardInterrupt
            self.images += len(images) if images.any() else 0  # black: the probe of the shape
            return original(engine, images)

        monkeypatch.setattr(engines.OnnxEngine, "features", counted)


def reference(folder, split="train", view=None):
    """Pooled vectors and maps by the plain network, one image at a time."""
    from sharc.datasets.raw import RawData
    from sharc.features.pipeline import Extractor

    backbone = small_backbone(folder / "weights0.pth")
    extractor = Extractor(backbone.load(16), 8, 16).normalised_with(backbone.mean, backbone.std)
    images = torch.from_numpy(np.array(RawData(folder / "raw").images(split)))
    parts = [extractor.eval()(image[None]) for image in images]
    return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])


def test_the_cache_holds_what_the_plain_network_gives(folder):
    cache = build(folder)
    pooled, maps = reference(folder)
    torch.testing.assert_close(cache.train_pooled(), pooled, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(cache.test_pooled(), reference(folder, "test")[0])
    torch.testing.assert_close(cache.rows(np.arange(20)), maps.float(), rtol=2e-3, atol=2e-3)
    assert cache.map_size == (4, 4)
    assert cache.n_channels == 8
    assert cache.labels("train").tolist() == sorted(cache.labels("train").tolist())
    assert len(cache.labels("test")) == 7


def test_rows_come_in_the_order_asked_for_repeats_included(folder):
    cache = build(folder)
    whole = cache.rows(torch.arange(20))
    index = torch.tensor([19, 0, 7, 7, 5, 6])
    assert torch.equal(cache.rows(index), whole[index])
    assert cache.rows(torch.tensor([], dtype=torch.long)).shape == (0, 4, 4, 8)
    assert whole.dtype == torch.float32


@pytest.mark.parametrize("index", [20, -1])
def test_a_row_that_does_not_exist_is_refused(folder, index):
    with pytest.raises(UserError, match=f"image {index} is not among them"):
        build(folder).rows(np.array([index]))


def test_chunks_are_sliceable_with_the_safetensors_library(folder):
    build(folder)
    with safe_open(folder / "features/train-view0-0001.safetensors", "pt") as handle:
        assert handle.get_slice("maps")[2:4].shape == (2, 4, 4, 8)
        assert handle.get_slice("maps").get_dtype() == "F16"
        assert handle.get_tensor("index").tolist() == [6, 7, 8, 9, 10, 11]


def test_the_same_settings_give_the_same_bytes_with_other_threads_and_batch(folder):
    build(folder)
    build(folder, "again", threads=1, batch=3)
    assert contents(folder / "features") == contents(folder / "again")


def test_a_killed_extraction_goes_on_after_its_last_complete_chunk(folder, monkeypatch):
    build(folder, "whole")
    counter = Counter(monkeypatch, fail_after=12)
    with pytest.raises(KeyboardInterrupt):
        build(folder)
    assert not (folder / "features/meta.json").exists()
    done = json.loads((folder / "features/progress.json").read_text())["chunks"]
    assert sorted(done) == [f"{part}.safetensors" for part in ("test-0000", "test-0001", FIRST)]
    (folder / "features/.partial-1234-train-view0-0000.safetensors").write_bytes(b"half")
    counter.fail_after, counter.images = None, 0
    build(folder)
    assert counter.images == 27 - 13
    assert contents(folder / "features") == contents(folder / "whole")


def test_a_complete_cache_is_not_computed_again(folder, monkeypatch):
    build(folder)
    before = contents(folder / "features")
    counter = Counter(monkeypatch)
    build(folder)
    assert counter.images == 0
    assert contents(folder / "features") == before


def test_a_flipped_byte_in_a_chunk_recomputes_that_chunk_alone(folder, monkeypatch):
    build(folder)
    before = contents(folder / "features")
    path = folder / "features/train-view0-0002.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\x55")
    counter = Counter(monkeypatch)
    build(folder)
    assert counter.images == 6
    assert contents(folder / "features") == before


@pytest.mark.parametrize("change", [{"image_size": 24}, {"normalisation": "dataset"}, {"seed": 1}])
def test_chunks_of_other_settings_or_weights_are_never_reused(folder, change):
    first = build(folder).train_pooled()
    second = build(folder, **change).train_pooled()
    fresh = build(folder, "fresh", **change).train_pooled()
    assert torch.equal(second, fresh)
    assert not torch.allclose(first, second)
    assert contents(folder / "features") == contents(folder / "fresh")


def test_another_raw_data_set_is_never_served_from_old_chunks(folder):
    build(folder)
    small_raw(folder / "raw", train=21)
    assert len(build(folder).train_pooled()) == 21


def test_adding_a_view_computes_that_view_alone(folder, monkeypatch):
    first = build(folder, views=1)
    before = contents(folder / "features")
    assert first.views == [1]
    counter = Counter(monkeypatch)
    both = build(folder, views=2)
    assert counter.images == 20
    assert both.views == [1, 2]
    after = contents(folder / "features")
    assert all(after[name] == before[name] for name in before if name.startswith(("train", "test")))
    assert not torch.equal(both.train_pooled(1), both.train_pooled(2))
    assert torch.equal(both.train_pooled(), both.train_pooled(1))
    assert both.rows([3], view=2).shape == (1, 4, 4, 8)
    with pytest.raises(UserError, match=r"holds views \[1, 2\], not 0"):
        both.train_pooled(0)


def test_fewer_views_leave_no_file_of_the_dropped_one(folder):
    build(folder, views=2)
    build(folder, views=1)
    build(folder, "fresh", views=1)
    assert contents(folder / "features") == contents(folder / "fresh")


def test_a_share_of_a_quarter_keeps_every_fourth_map_and_all_pooled_vectors(folder):
    whole, part = build(folder), build(folder, "part", maps_share=0.25)
    assert part.map_index.tolist() == [0, 4, 8, 12, 16]
    assert torch.equal(part.rows([12, 0]), whole.rows([12, 0]))
    assert torch.equal(part.train_pooled(), whole.train_pooled())
    with pytest.raises(UserError, match=r"keeps maps of 5 training images; image 1 is not"):
        part.rows([0, 1])


def test_a_share_of_zero_keeps_no_map(folder):
    cache = build(folder, maps_share=0.0)
    assert cache.describe()["maps"]["shape"] == [0, 4, 4, 8]
    with pytest.raises(UserError, match=r"Set features\.maps_share to 1"):
        cache.rows([0])


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_either_engine_can_be_asked_for_by_name(folder, engine):
    cache = build(folder, engine=engine)
    assert cache.meta["settings"]["engine"] == engine
    torch.testing.assert_close(cache.train_pooled(), reference(folder)[0], rtol=1e-4, atol=1e-4)


def test_normalisation_constants_are_those_asked_for(folder):
    stated = {
        name: build(folder, name, normalisation=name).meta["settings"]["mean"][0]
        for name in ("own", "dataset", "imagenet")
    }
    assert stated == {"own": 0.5, "dataset": 0.4, "imagenet": 0.485}
    with pytest.raises(UserError, match=r"unknown normalisation 'imagnet'"):
        build(folder, normalisation="imagnet")


def test_describe_counts_classes_and_zeros(folder):
    found = build(folder).describe()
    maps = reference(folder)[1]
    assert found["pooled"] == {"dtype": "float32", "train": 20, "test": 7, "channels": 8}
    assert sum(found["per_class"]["train"]) == 20
    assert found["zeros"]["entries"] == pytest.approx(float((maps == 0).float().mean()), abs=1e-3)


def test_a_full_disk_stops_with_a_message_and_keeps_what_was_complete(folder, monkeypatch):
    original, calls = chunks.save, []

    def full_at_third(path, tensors):
        calls.append(path)
        if len(calls) == 3:
            raise UserError(f"the disk is full: {path} could not be written.")
        original(path, tensors)

    monkeypatch.setattr(chunks, "save", full_at_third)
    with pytest.raises(UserError, match="the disk is full"):
        build(folder)
    assert not (folder / "features/meta.json").exists()
    assert not list((folder / "features").glob(".partial*"))
    assert len(json.loads((folder / "features/progress.json").read_text())["chunks"]) == 2
    build(folder)


def test_a_disk_that_fills_while_progress_is_noted_is_called_by_its_name(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(chunks, "write_json", full)
    with pytest.raises(UserError, match=r"the disk is full: .*progress\.json"):
        build(folder)


def test_a_cache_that_is_not_complete_is_not_read(folder):
    (folder / "features").mkdir()
    with pytest.raises(UserError, match=r"meta\.json does not exist"):
        FeatureCache(folder / "features")


@pytest.mark.parametrize(
    ("shape", "rows"),
    [((4, 4, 1280), 1600), ((7, 7, 512), 1280), ((14, 14, 768), 192), ((1, 1, 8), 4096)],
)
def test_a_chunk_of_maps_stays_below_64_megabytes(shape, rows):
    assert chunk_rows(shape) == rows
    assert rows * np.prod(shape) * 2 <= 64 << 20


def test_with_a_split_only_its_images_are_looked_at(folder, monkeypatch):
    tasks = [
        {"train": [1, 7], "validation": [10], "test": [0]},
        {"train": [8], "validation": [], "test": [6]},
    ]
    write_json(folder / "split.json", {"tasks": tasks})
    whole = build(folder, "whole")
    counter = Counter(monkeypatch)
    part = build(folder, "part", split=folder / "split.json")
    assert counter.images == 6
    assert part.map_index.tolist() == [1, 7, 8, 10]
    assert torch.equal(part.train_pooled()[[1, 7, 8, 10]], whole.train_pooled()[[1, 7, 8, 10]])
    assert part.train_pooled()[[0, 2, 19]].abs().sum() == 0
    assert torch.equal(part.rows(torch.tensor([8, 1])), whole.rows(torch.tensor([8, 1])))
    assert torch.equal(part.test_pooled()[[0, 6]], whole.test_pooled()[[0, 6]])
