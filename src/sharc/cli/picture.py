"""`sharc inspect --picture`: maps that a finished run recalls, next to the originals.

A record holds no maps. The run is repeated, which takes seconds and gives the same bits, and its
memory is asked for one stored example of each past task.
"""

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sharc.artifacts.files import read_json, write_atomically
from sharc.buffers.sharc import SharcBuffer
from sharc.engine.runs import RunSpec
from sharc.errors import UserError
from sharc.features.streams import load_stream
from sharc.stages.methods import make_method
from sharc.trainer.train import train

_MOST = 8  # examples that fit a page
_ROWS = ("whole map", "what is stored", "what is recalled")


def draw_recalled_maps(path: Path, picture: Path) -> None:
    """Draw whole, stored and recalled maps, a pixel per channel, one column per past task."""
    run = read_json(path) if path.is_file() else {}
    if not isinstance(run, dict) or run.get("memory") is None:
        raise UserError(
            f"{path} is not a run with an associative memory: --picture needs a record below a "
            "folder such as outputs/runs/digits/efficientnet_lite0/er/bayes_pcn-t0.8/."
        )
    buffer = _repeat(run)
    tasks = [
        round(t) for t in torch.linspace(0, run["tasks"] - 1, min(_MOST, run["tasks"])).tolist()
    ]
    columns = [(task, [m[0] for m in _first_map(buffer, task)]) for task in tasks]
    with write_atomically(picture.with_suffix(".png")) as partial:
        _draw(columns, f"{run['method']} {run['variant']}", partial)


def _repeat(run: dict[str, Any]) -> SharcBuffer:
    method = make_method(run["method"], run["memory"], run["params"], "cpu")
    made: list[SharcBuffer] = []

    def remember(*words: Any) -> Any:
        buffer: Any = method.make_buffer(*words)
        made.append(buffer)
        return buffer

    features = Path("outputs/features") / run["dataset"] / run["backbone"]
    stream = load_stream(features, Path("data/splits") / f"{run['dataset']}.json")
    spec = RunSpec(run["seed"], run["buffer"], run["theta"])
    train(stream, [spec], method.strategy, method.options, remember)
    return made[0]


def _first_map(buffer: SharcBuffer, task: int) -> tuple[Tensor, Tensor, Tensor]:
    """Whole, stored and recalled maps [1, H·W, K] of a task's first stored example."""
    first = buffer.stored(0, task).subset(torch.tensor([0]))
    whole = buffer.maps(0, first.index)
    stored = whole * first.kept[:, None, :]
    memory = buffer.memories[0]
    if memory is None:  # nothing was dropped
        return whole, stored, stored
    recalled = memory.recall(stored.flatten(1), first.kept, first.labels)
    return whole, stored, recalled.view_as(whole)


def _draw(columns: list[tuple[int, list[Tensor]]], title: str, out: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 * len(columns) + 1, 5.2), layout="constrained")
    axes = figure.subplots(3, len(columns), squeeze=False)
    for column, (task, maps) in enumerate(columns):
        top = float(maps[0].mean(dim=0).quantile(0.98))
        for row, flat in enumerate(maps):
            axis = axes[row][column]
            axis.imshow(_channels(flat), cmap="cividis", vmin=0, vmax=top, interpolation="nearest")
            axis.set(xticks=[], yticks=[])
        error = float((maps[2] - maps[0]).square().mean())
        axes[0][column].set_title(f"task {task + 1}", fontsize=9)
        axes[2][column].set_xlabel(f"error {error:.3f}", fontsize=8)
    for row, name in enumerate(_ROWS):
        axes[row][0].set_ylabel(name, fontsize=9)
    figure.suptitle(f"{title}: a pixel per channel, mean over positions", fontsize=10)
    figure.savefig(out, format="png", dpi=120)


def _channels(flat: Tensor) -> Any:
    """A map [H·W, K] as a picture that is about square: each channel's mean is a pixel."""
    means = flat.mean(dim=0)
    side = math.isqrt(len(means) - 1) + 1
    filled = torch.full((side * side,), math.nan)
    filled[: len(means)] = means
    return filled.view(side, side).numpy()
