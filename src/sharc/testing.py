"""Contract checks for methods, memories, data sets and backbones, for your own tests.

    from sharc.testing import check_method

    def test_my_method():
        check_method(MyMethod)

Each check takes a second or two on synthetic data; its message says what is wrong.
"""

import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from sharc.artifacts.files import read_json
from sharc.backbones.base import Backbone
from sharc.buffers.dense import DenseBuffer
from sharc.datasets.base import Dataset
from sharc.engine.runs import RunResult, RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import MethodError
from sharc.memories.base import AssociativeMemory, Shape
from sharc.stages import download
from sharc.strategies.base import Strategy
from sharc.streams import make_stream
from sharc.trainer.train import train

TASKS, PER_CLASS, FEATURES, BUFFER = 3, 100, 12, 30


def toy_stream(noise: float = 0.5) -> TaskStream:
    """Three tasks of two classes: clouds of points around six centres."""
    source = np.random.default_rng(0)
    centres = source.standard_normal((2 * TASKS, FEATURES))

    def cloud(each: int) -> tuple[Any, Any]:
        labels = np.repeat(np.arange(2 * TASKS), each)
        return centres[labels] + noise * source.standard_normal((len(labels), FEATURES)), labels

    return make_stream(cloud(PER_CLASS), cloud(20), TASKS, name="toy")


def check_method(method: type[Strategy], **options: Any) -> list[RunResult]:
    """It learns, stays within its buffer, and a run's result does not depend on the runs trained
    with it."""
    __tracebackhide__ = True  # pytest then shows the test and the message alone
    stream, seeds = toy_stream(), (0, 1, 2)
    runs = [RunSpec(seed, BUFFER) for seed in seeds]
    logging.getLogger("torch.__trace").handlers.clear()  # pytest's would show empty lines
    try:
        together = train(stream, runs, method, options, DenseBuffer)
    except MethodError as error:
        raise AssertionError(str(error)) from None
    (alone,) = train(stream, runs[1:2], method, options, DenseBuffer)
    for seed, result in zip(seeds, together, strict=True):
        assert result.status == "ok", f"seed {seed} failed: {result.message}"
        last = result.accuracy.task_il[-1, -1]
        assert last > 75, f"after the last task only {last:.0f} % of it are right; 50 % is chance"
        held = result.ledger.get("counted_floats", 0)
        assert held <= BUFFER * FEATURES, f"it stores {held} numbers, the buffer allows 360"
    for scenario in ("class_il", "task_il"):
        one, same = (getattr(r.accuracy, scenario) for r in (alone, together[1]))
        assert np.array_equal(one, same, equal_nan=True), "a seed's result depends on the others"
    return together


def check_memory(memory: type[AssociativeMemory], **options: Any) -> AssociativeMemory:
    """It answers with whole, finite maps, leaves what is kept alone and repeats itself."""
    shape, source = Shape(4, 16), torch.Generator().manual_seed(0)
    maps = torch.randn(12, shape.size, generator=source).relu()
    kept = torch.rand(12, shape.channels, generator=source) < 0.5
    labels = torch.arange(12) % 3
    answers, made = [], []
    for _ in range(2):
        made.append(memory(shape, memory.Options(**options), seed=3))
        made[-1].write(maps, labels)
        answers.append(made[-1].recall(maps, kept, labels))
    fixed = kept.repeat(1, shape.positions)
    assert answers[0].shape == maps.shape, f"recalls {tuple(answers[0].shape)}, not {maps.shape}"
    assert bool(answers[0].isfinite().all()), "recalls numbers that are not finite"
    assert torch.equal(answers[0][fixed], maps[fixed]), "changes what was kept"
    assert torch.equal(*answers), "the same seed gives another answer the second time"
    floats = made[0].n_floats()
    assert floats.keys() >= {"weights", "prior"}, f"n_floats lacks weights or prior: {floats}"
    made[0].forget()
    return made[0]


def check_dataset(dataset: type[Dataset], **options: Any) -> dict[str, Any]:
    """It reads, each class has training and test images, and a second reading is the same."""
    with TemporaryDirectory() as folder:
        made = dataset("checked")
        out = Path(folder) / "data/raw/checked"
        for _ in range(2):  # the second is checked against the digest recorded by the first
            sources = list(made.sources)
            download.build(made, out, sources=sources, mirror=None, options=options)
        meta: dict[str, Any] = read_json(out / "meta.json")
    for split, held in meta["splits"].items():
        fewest = min(held["per_class"])
        assert fewest > 0, f"a class has no {split} image: {held['per_class']}"
    return meta


def check_backbone(backbone: type[Backbone], image_size: int = 64) -> tuple[int, ...]:
    """It gives finite maps K×H×W, is frozen, and an image's map does not depend on its batch."""
    network = backbone().load(image_size)
    images = torch.randn(3, 3, image_size, image_size, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        maps, alone = network(images), network(images[:1])
    assert maps.ndim == 4, f"gives {tuple(maps.shape)}, not (images, K, H, W)"
    assert bool(maps.isfinite().all()), "gives numbers that are not finite"
    assert not any(p.requires_grad for p in network.parameters()), "is not frozen"
    torch.testing.assert_close(maps[:1], alone, rtol=1e-3, atol=1e-4)
    return tuple(maps.shape)
