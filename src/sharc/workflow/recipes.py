"""How each family calls its stage: paths and plain values in, the list of files out."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sharc.artifacts.notes import note_beside
from sharc.config import Params
from sharc.grid import DENSE
from sharc.registry import load
from sharc.results.records import relative_path
from sharc.workflow.shelf import unshelve_file
from sharc.workflow.train_params import record_params
from sharc.workflow.units import Graph, Unit


@dataclass(frozen=True)
class Made:
    """What a stage wrote, which parts of it failed, and remarks for the provenance."""

    outputs: list[Path]
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


Recipe = Callable[[Graph, Unit, Params, int], Made]


def _download(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import download

    mirror = os.environ.get("SHARC_MIRROR") or params.data.mirror
    download.build(
        load("dataset", unit.name)(),
        unit.folder,
        sources=list(params.chosen.sources),
        mirror=Path(mirror) if mirror else None,
        options={key: value for key, value in unit.params.items() if value is not None},
    )
    return Made(_files(unit.folder))


def _split(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import split

    out = unit.folder / f"{unit.name}.json"
    split.build(graph.needs(unit)[0].folder, out, **unit.params)
    return Made([out])


def _features(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import features

    features.build(
        graph.needs(unit)[0].folder,
        unit.folder,
        load("backbone", params.chosen.backbone)(),
        **unit.params,
        batch=params.features.batch,
        device=params.features.device,
        threads=threads,
    )
    return Made(_files(unit.folder))


def _train(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import train

    dataset, backbone, name, kept_as = unit.name.split("/")
    wanted = list(_wanted(graph, unit))
    for record in wanted:
        for path in (record.path, note_beside(record.path)):
            unshelve_file(path)  # a seed that was taken out and put in again
    failed = train.build(
        Path("outputs/features") / dataset / backbone,
        Path("data/splits") / f"{dataset}.json",
        wanted,
        make_method(name, kept_as, unit.params["options"], params.train.device),
    )
    return Made([record.path for record in wanted], failed)


def make_method(name: str, kept_as: str, told: dict[str, Any], device: str) -> Any:
    """A method and its memory, from the parameters that a run's record tells."""
    from sharc.stages.train import Method

    options = dict(told)
    memory, sharc = options.pop("memory", None), options.pop("sharc", None)
    options |= options.pop("method") | {"device": device}
    if kept_as == DENSE:
        return Method(load("method", name), options, told)
    from sharc.buffers.associative import AssociativeBuffer

    kind = load("memory", kept_as)
    make = partial(AssociativeBuffer, memory=kind, memory_options=memory, sharc=sharc)
    return Method(load("method", name), options, told, make)


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


def _figure1(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import figure1

    figure1.build(graph.needs(unit)[0].folder, unit.folder, options=unit.params)
    return Made(_files(unit.folder))


def _collect(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import collect

    records = [Path(name) for name in graph.inputs(unit) or {}]
    collect.build(records, unit.params["expected"], unit.folder, joint_bwt=unit.params["joint_bwt"])
    return Made(_files(unit.folder))


def _tables(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import tables

    tables.build(RESULTS, PAPER, unit.folder, layout=unit.params)
    return Made(_files(unit.folder))


def _figures(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import figures

    figures.build(RESULTS, PAPER, _figure1_folder(params), unit.folder, layout=unit.params)
    return Made(_files(unit.folder))


def _claims(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import claims

    made = [unit.folder / "claims.json", unit.folder / "claims.md"]
    claims.build(
        RESULTS,
        Path("data/paper/claims.yaml"),
        PAPER,
        _figure1_folder(params),
        *made,
        layout=unit.params,
    )
    return Made(made)


def _report(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import report
    from sharc.workflow.told import costs, provenance, suite_facts

    out = unit.folder / "report.html"
    report.build(
        RESULTS,
        Path("outputs/tables"),
        Path("outputs/figures"),
        Path("outputs/claims.json"),
        out,
        layout=unit.params,
        suite=suite_facts(params),
        provenance=provenance(graph, params),
        costs=costs(graph),
    )
    return Made([out])


RESULTS = Path("outputs/results")
PAPER = Path("data/paper/results.csv")
RECIPES: dict[str, Recipe] = {
    "download": _download,
    "split": _split,
    "features": _features,
    "train": _train,
    "figure1": _figure1,
    "collect": _collect,
    "tables": _tables,
    "figures": _figures,
    "claims": _claims,
    "report": _report,
}


def _figure1_folder(params: Params) -> Path | None:
    return Path("outputs/figure1") / params.chosen.figure1 if params.chosen.figure1 else None


def _files(folder: Path) -> list[Path]:
    """Everything a stage wrote into a folder of its own, but for the receipt."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "receipt.json"]
