"""Where our own time goes, for whatever did not reach its target: cProfile, by function."""

import cProfile
import io
import pstats
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.features import profiled_network
from bench.growth import BASE
from bench.recall import THETA, sharc
from bench.streams import CIFAR10, CIFAR100, OFFLINE, synthetic
from bench.training import BUFFER, BUFFERS, SEEDS, ours
from sharc.engine.device import one_thread

SHOWN = 14


def write(measures: Sequence[str], folder: Path) -> list[Path]:
    """One text file per missed measure that training decides."""
    made: list[Path] = []
    jobs = {name: job for name in measures if (job := _job(name))}
    for name, work in jobs.items():
        made.append(_save(folder / f"{name}.txt", _by_function(work)))
    for name in measures:
        if name.startswith("features_") and "efficientnet" in name:
            made.append(_save(folder / f"{name}.txt", _by_operator("efficientnet_lite0", 128)))
        elif name.startswith("features_"):
            made.append(_save(folder / f"{name}.txt", _by_operator("resnet18", 224)))
    return made


def _save(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


def _by_function(work: Callable[[], None]) -> str:
    profiler = cProfile.Profile(time.process_time)
    with one_thread():
        profiler.runcall(work)
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(SHOWN)
    return text.getvalue()


def _by_operator(name: str, pixels: int) -> str:
    """ONNX Runtime's own profile of the network, added up by operator and its weights' shape."""
    with tempfile.TemporaryDirectory() as folder:
        events = profiled_network(name, pixels, Path(folder))
    spent: dict[str, float] = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("kernel_time"):
            shapes = [str(*shape.values()) for shape in event["args"]["input_type_shape"][1:2]]
            what = f"{event['args']['op_name']} {' '.join(shapes)}"
            spent[what] = spent.get(what, 0.0) + event["dur"]
    whole = sum(spent.values())
    rows = sorted(spent.items(), key=lambda row: -row[1])[:SHOWN]
    lines = [f"{100 * took / whole:5.1f} %  {what}" for what, took in rows]
    return "\n".join([f"{name} at {pixels} px, share of ONNX Runtime's time", *lines])


def _job(measure: str) -> Callable[[], None] | None:
    """What to profile for a measure's name."""
    if measure == "growth_buffer":
        return partial(ours, "er_full", synthetic(BASE), buffer=2000)
    if found := re.fullmatch(r"(\w+)_vs_(?:plain|avalanche|framework)(_stacked)?_(\d+)", measure):
        shape = CIFAR10 if found[3] == "10" else CIFAR100
        buffers = BUFFERS if found[2] else (BUFFER,)
        return partial(ours, found[1], synthetic(shape, 0.2), SEEDS, *buffers)
    if found := re.fullmatch(
        r"sharc_cost_(er|er_full)_(modern_hopfield|bayes_pcn)_(\d+)_(\d+)", measure
    ):
        shape = OFFLINE if found[3] == "1280" else CIFAR10
        stream = synthetic(shape, maps=True)
        return partial(sharc, found[1], stream, found[2], THETA, seeds=int(found[4]))
    return None
