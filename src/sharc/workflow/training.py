"""How the families that train are called: which records they owe, and what each is made with."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sharc.artifacts.notes import note_beside
from sharc.config import Params
from sharc.grid import DENSE
from sharc.options import StorageOptions, parsed
from sharc.references import import_class
from sharc.registry import load, passes
from sharc.results.records import relative_path
from sharc.workflow.shelf import unshelve_file
from sharc.workflow.train_params import UNRECALLED, record_params
from sharc.workflow.units import Graph, Unit


@dataclass(frozen=True)
class Made:
    """What a stage wrote, which parts of it failed, and remarks for the provenance."""

    outputs: list[Path]
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def train(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    """All runs of a method and memory on one data set."""
    from sharc.stages.train import build

    _, _, name, kept_as = unit.name.split("/")
    split, features = graph.needs(unit)
    wanted = list(_wanted(graph, unit))
    _bring_back(wanted)
    failed = build(
        features.folder,
        split.folder / f"{split.name}.json",
        wanted,
        make_method(name, kept_as, unit.params["options"], params.train.device),
    )
    return Made([record.path for record in wanted], failed)


def _bring_back(wanted: list[Any]) -> None:
    """A seed that was taken out and put in again need not be trained again."""
    for record in wanted:
        for path in (record.path, note_beside(record.path)):
            unshelve_file(path)


def rungs(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    """All runs of a method on the ladder's part of one data set, rung by rung."""
    from sharc.stages.train import build

    split, *_ = graph.needs(unit)
    made: list[Path] = []
    failed: dict[str, str] = {}
    for run in unit.params["runs"]:
        wanted = list(_wanted_on_rung(graph, unit, params.chosen.backbone, run))
        _bring_back(wanted)
        failed |= build(
            graph.units[run["features"]].folder,
            split.folder / f"{split.name}.json",
            wanted,
            make_method(
                unit.name.partition("/")[2], run["kept_as"], run["options"], params.train.device
            ),
        )
        made += [record.path for record in wanted]
    return Made(made, failed)


def _wanted_on_rung(graph: Graph, unit: Unit, backbone: str, run: dict[str, Any]) -> Any:
    from sharc.stages.train import Wanted

    dataset, _, method = unit.name.partition("/")
    inputs = graph.inputs(unit) or {}
    for seed in unit.params["seeds"]:
        identity = {"dataset": dataset, "backbone": backbone, "method": method, "seed": seed}
        identity |= run["cell"] | {"memory": None if run["kept_as"] == DENSE else run["kept_as"]}
        path = unit.folder / f"rung{run['rung']:02d}" / relative_path(identity)
        key = graph.part_key(unit, inputs, {"run": run, "seed": seed})
        yield Wanted(path, key, identity | {"rung": run["rung"]})


def make_method(name: str, kept_as: str, told: dict[str, Any], device: str) -> Any:
    """A method and its memory, from the parameters that a run's record tells."""
    from sharc.stages.train import Method

    options = dict(told)
    memory, sharc = options.pop("memory", None), options.pop("sharc", None)
    options |= options.pop("method") | {"device": device}
    strategy = load("method", name)
    if sharc is None:
        return Method(strategy, options, told, passes=passes(name))
    from sharc.buffers.base import Buffer

    kind = load("memory", UNRECALLED if kept_as == DENSE else kept_as)
    if issubclass(kind, Buffer):  # a way to store, which recalls nothing
        return Method(strategy, options, told, kind, passes(name))
    given = parsed(kind.Options, memory or {}, f"memory {kept_as}")
    storage = parsed(StorageOptions, sharc, "sharc")
    make = partial(import_class(storage.buffer), memory=kind, memory_options=given, sharc=storage)
    return Method(strategy, options, told, make, passes(name))


def _wanted(graph: Graph, unit: Unit) -> Any:
    from sharc.stages.train import Wanted

    dataset, backbone, method, kept_as = unit.name.split("/")
    inputs = graph.inputs(unit) or {}
    for cell in unit.params["cells"]:
        for seed in unit.params["seeds"]:
            identity = {"dataset": dataset, "backbone": backbone, "method": method, "seed": seed}
            identity |= cell | {"memory": None if kept_as == DENSE else kept_as}
            path = Path("outputs/runs") / relative_path(identity)
            key = graph.part_key(unit, inputs, record_params(unit.params, cell, seed))
            yield Wanted(path, key, identity)
