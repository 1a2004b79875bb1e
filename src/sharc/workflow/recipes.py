"""How each family calls its stage: paths and plain values in, the list of files out."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from sharc.config import Params
from sharc.registry import is_added, load
from sharc.workflow.training import Made, rungs, train
from sharc.workflow.units import Graph, Unit

Recipe = Callable[[Graph, Unit, Params, int], Made]


def _download(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import download

    mirror = os.environ.get("SHARC_MIRROR") or params.data.mirror
    dataset = load("dataset", unit.name)(unit.name)
    added = is_added("dataset", unit.name)
    remarks = download.build(
        dataset,
        unit.folder,
        sources=list(dataset.sources if added else params.chosen.sources),
        mirror=Path(mirror) if mirror else None,
        options={key: value for key, value in unit.params.items() if value is not None},
    )
    for remark in remarks:
        print(f"{unit.name}: {remark}")
    return Made(_files(unit.folder), notes={"remarks": remarks} if remarks else {})


def _split(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import split

    out = unit.folder / f"{unit.name}.json"
    split.build(graph.needs(unit)[0].folder, out, **unit.params, batch=params.train.batch)
    return Made([out])


def _features(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import features

    raw, *split = graph.needs(unit)
    features.build(
        raw.folder,
        unit.folder,
        load("backbone", params.chosen.backbone)(),
        **unit.params,
        split=_split_file(split[0]) if split else None,
        batch=params.features.batch,
        device=params.features.device,
        threads=threads,
    )
    return Made(_files(unit.folder))


def _streamed(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import drift

    if "seeds" not in unit.params:  # a frozen backbone
        return _features(graph, unit, params, threads)
    raw, split = graph.needs(unit)
    drift.build(
        raw.folder,
        _split_file(split),
        unit.folder,
        load("backbone", params.chosen.backbone)(),
        **unit.params,
        device=params.features.device,
    )
    return Made(_files(unit.folder))


def _split_file(split: Unit) -> Path:
    return split.folder / f"{split.name}.json"


def _ladder(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import ladder

    records = [Path(name) for name in graph.inputs(unit) or {}]
    ladder.build(records, PAPER, unit.folder, layout=unit.params)
    return Made(_files(unit.folder))


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

    tables.build(RESULTS, PAPER, _emptied(unit.folder), layout=unit.params)
    return Made(_files(unit.folder))


def _figures(graph: Graph, unit: Unit, params: Params, threads: int) -> Made:
    from sharc.stages import figures

    out = _emptied(unit.folder)
    figures.build(RESULTS, PAPER, _figure1_folder(params), out, layout=unit.params)
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
    from sharc.workflow.told import commits, costs, deviations, provenance, suite_facts

    out = unit.folder / "report.html"
    report.build(
        RESULTS,
        Path("outputs/tables"),
        Path("outputs/figures"),
        Path("outputs/claims.json"),
        out,
        layout=unit.params,
        suite=suite_facts(params),
        provenance=provenance(graph, params) | {"training": commits(graph)},
        deviations=deviations(params),
        costs=costs(graph),
        ladder=Path("outputs/ladder") if params.chosen.ladder else None,
    )
    return Made([out])


RESULTS = Path("outputs/results")
PAPER = Path("data/paper/results.csv")
RECIPES: dict[str, Recipe] = {
    "download": _download,
    "split": _split,
    "features": _features,
    "streamed": _streamed,
    "train": train,
    "figure1": _figure1,
    "rungs": rungs,
    "ladder": _ladder,
    "collect": _collect,
    "tables": _tables,
    "figures": _figures,
    "claims": _claims,
    "report": _report,
}


def _figure1_folder(params: Params) -> Path | None:
    return Path("outputs/figure1") / params.chosen.figure1 if params.chosen.figure1 else None


def _emptied(folder: Path) -> Path:
    """A folder whose files are named after the grid: none of an earlier grid may pass for new."""
    shutil.rmtree(folder, ignore_errors=True)  # where that fails, writing does, and says why
    return folder


def _files(folder: Path) -> list[Path]:
    """Everything a stage wrote into a folder of its own, but for the receipt."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "receipt.json"]
