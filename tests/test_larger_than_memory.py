"""A data set whose images and maps are each larger than the memory its stages may use."""

import resource
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sharc.artifacts.arrays import Blocks, save
from sharc.artifacts.files import read_json, write_json
from small_backbone import SmallBackbone

pytestmark = pytest.mark.slow
MB = 1 << 20
LIMIT = 512 * MB  # what a stage may take beyond what the imported libraries reserve
KINDS = ("RssAnon", "RssFile", "VmHWM")  # its own, mapped files, and the most of both together
IMAGES, SIDE, CLASSES = 60_000, 84, 10
BLOCK = 1_000  # distinct images, repeated


class Wide(SmallBackbone):
    """One convolution that gives maps of ResNet18's shape, 7 x 7 x 512."""

    name = "wide"

    def architecture(self, image_size: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(3, 512, 3, stride=2, padding=1), nn.ReLU())


def status(name: str, process: int | str = "self") -> int:
    """A line of /proc/<process>/status, in bytes; 0 once the process has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(x.split()[1]) for x in lines if x.startswith(f"{name}:")), 0) * 1024


def dirty(suffix: str) -> int:
    """Bytes of mapped files of that kind which the kernel could not simply drop."""
    found, counts = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first = line.split(maxsplit=1)[0]
        if not first.endswith(":"):
            counts = line.endswith(suffix)
        elif counts and first in ("Private_Dirty:", "Shared_Dirty:"):
            found += int(line.split()[1]) * 1024
    return found


def limited(stage: Callable[[Path], None], folder: Path) -> None:
    """Run a stage; the kernel refuses it more than LIMIT beyond what libraries reserve."""
    limit = status("VmData") + LIMIT  # private and writable, touched or not: no file's pages
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    stage(folder)
    assert dirty(".safetensors") == 0  # what is mapped is cache, the kernel's to take back


def peaks(stage: Callable[[Path], None], folder: Path) -> dict[str, int]:
    """Run a stage in a process of its own; the most memory of each kind seen from outside."""
    process = get_context("spawn").Process(target=limited, args=(stage, folder))
    process.start()
    seen = dict.fromkeys(KINDS, 0)
    while process.is_alive():
        seen = {kind: max(most, status(kind, process.pid or 0)) for kind, most in seen.items()}
        process.join(0.01)
    assert process.exitcode == 0, f"{stage.__name__} failed: its traceback is above"
    print(stage.__name__, {kind: f"{most / MB:,.0f} MB" for kind, most in seen.items()})
    return seen


def write_raw(folder: Path) -> None:
    """Raw artifacts as `download` leaves them, written block by block."""
    block = np.random.default_rng(0).integers(0, 256, (BLOCK, SIDE, SIDE, 3), dtype=np.uint8)
    meta: dict[str, Any] = {"dataset": "toy", "side": SIDE, "splits": {}}
    meta |= {"classes": list("abcdefghij"), "mean": [0.5] * 3, "std": [0.25] * 3}
    for split, items in (("train", IMAGES), ("test", BLOCK)):
        images = Blocks("uint8", (items, SIDE, SIDE, 3), [block] * (items // BLOCK))
        labels = np.repeat(np.arange(CLASSES), items // CLASSES)
        save(folder / f"{split}.safetensors", {"labels": labels, "images": images})
        meta["splits"][split] = {"items": items, "digest": split}
    write_json(folder / "meta.json", meta)


def extract(folder: Path) -> None:
    from sharc.stages import features, split

    torch.manual_seed(0)
    torch.save(Wide().architecture(0).state_dict(), folder / "weights.pth")
    features.build(
        folder / "raw", folder / "toy/wide", Wide(folder / "weights.pth"),
        image_size=14, normalisation="own", views=0, maps_share=1.0,
        engine="auto", batch=8, threads=1, device="cpu",
    )  # fmt: skip
    split.build(
        folder / "raw", folder / "split.json", tasks=5, class_order="ascending", validation_share=0
    )


def rehearse(folder: Path) -> None:
    """ER with an associative memory in map space: 1,000 maps are held, and recalled."""
    from sharc.buffers.sharc import SharcBuffer
    from sharc.memories.modern_hopfield import ModernHopfield
    from sharc.stages import train
    from sharc.strategies.er import ER

    make = partial(SharcBuffer, memory=ModernHopfield)
    identity = {"variant": "modern_hopfield-t0.8", "theta": 0.8, "buffer": 200, "seed": 0}
    wanted = [train.Wanted(folder / "run.json", "key", identity)]
    method = train.Method(ER, {"learning_rate": 1e-3}, {}, make)
    assert train.build(folder / "toy/wide", folder / "split.json", wanted, method) == {}


def read_everything(folder: Path) -> None:
    """The control: the limit is one that a careless stage would run into."""
    from sharc.features.cache import FeatureCache

    with pytest.raises(MemoryError):
        FeatureCache(folder / "toy/wide").rows(np.arange(IMAGES))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of some gigabytes, not left behind."""
    write_raw(tmp_path / "raw")
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_features_and_training_need_a_fraction_of_the_data_sets_size(folder: Path):
    features = peaks(extract, folder)
    maps = sum(path.stat().st_size for path in (folder / "toy/wide").glob("train-*"))
    assert maps > 5 * LIMIT
    assert (folder / "raw/train.safetensors").stat().st_size > 2 * LIMIT
    training = peaks(rehearse, folder)
    assert read_json(folder / "run.json")["ledger"]["items"] > 900
    for seen in (features, training):
        assert 100 * MB < seen["RssAnon"] < maps / 3
    peaks(read_everything, folder)
