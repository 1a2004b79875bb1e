"""The families of the graph, from source to report, and the units of each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sharc import looks
from sharc.config import Params
from sharc.datasets.first_sight import content_of
from sharc.grid import DENSE, Cell, cells
from sharc.registry import module_of, replays
from sharc.workflow.feature_units import trained_on
from sharc.workflow.ladder_units import (
    PART,
    ladder_features,
    ladder_unit,
    rungs_units,
    split_parts,
)
from sharc.workflow.train_params import train_modules, train_params
from sharc.workflow.units import Graph, Unit

PAPER = ("data/paper/results.csv",)
CLAIMS = ("data/paper/claims.yaml",)


def build_graph(params: Params) -> Graph:
    """Every unit of the chosen suite."""
    return Graph(unit for units in FAMILIES.values() for unit in units(params))


def _download(params: Params) -> Iterator[Unit]:
    for name in _datasets(params):
        folder = Path("data/raw") / name
        modules = ("sharc.stages.download", module_of("dataset", name))
        block = params.datasets[name]
        content = dict(block.reading)
        if block.images is not None:
            content["content"] = content_of(name, block.images)
        yield Unit("download", name, folder, folder / "receipt.json", (), content, modules)


def _split(params: Params) -> Iterator[Unit]:
    wholes: list[tuple[str, str, dict[str, Any]]] = [(n, "", {}) for n in params.chosen.datasets]
    parts = [(name, PART, sizes) for name, sizes in split_parts(params)]
    for dataset, mark, sizes in [*wholes, *parts]:
        folder = Path("data/splits")
        yield Unit(
            family="split",
            name=f"{dataset}{mark}",
            folder=folder,
            receipt=folder / f"{dataset}{mark}.receipt.json",
            needs=(f"download:{dataset}",),
            params={
                "tasks": params.datasets[dataset].tasks,
                "class_order": params.data.class_order,
                "validation_share": params.data.validation_share,
            }
            | sizes,
            modules=("sharc.stages.split",),
        )


def _features(params: Params) -> Iterator[Unit]:
    for name in params.chosen.datasets:
        if (unit := trained_on(params, name)).family == "features":
            yield unit


def _streamed(params: Params) -> Iterator[Unit]:
    for name in params.chosen.datasets:
        if (unit := trained_on(params, name)).family == "streamed":
            yield unit
    yield from ladder_features(params)


def _train(params: Params) -> Iterator[Unit]:
    groups: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell in cells(params):
        kept_as = cell.variant.memory or DENSE
        groups.setdefault((cell.dataset, cell.backbone, cell.method, kept_as), []).append(cell)
    for (dataset, backbone, method, kept_as), members in groups.items():
        folder = Path("outputs/runs") / dataset / backbone / method
        told = train_params(params, method, kept_as, members)
        yield Unit(
            family="train",
            name="/".join((dataset, backbone, method, kept_as)),
            folder=folder,
            receipt=folder / f"{kept_as}.receipt.json",
            needs=(f"split:{dataset}", trained_on(params, dataset).id),
            params=told,
            modules=tuple(train_modules(method, kept_as, told)),
        )


def _figure1(params: Params) -> Iterator[Unit]:
    if name := params.chosen.figure1:
        folder = Path("outputs/figure1") / name
        yield Unit(
            family="figure1",
            name=name,
            folder=folder,
            receipt=folder / "receipt.json",
            needs=(f"download:{name}",),
            params=params.figure1.model_dump(),
            modules=("sharc.stages.figure1",),
        )


def _collect(params: Params) -> Iterator[Unit]:
    yield Unit(
        family="collect",
        name="all",
        folder=Path("outputs/results"),
        receipt=Path("outputs/results/receipt.json"),
        needs=tuple(unit.id for unit in _train(params)),
        params={"expected": expected_runs(params), "joint_bwt": params.train.joint_bwt},
        modules=("sharc.stages.collect",),
    )


def _for_people(family: str, files: tuple[str, ...], *needs: str) -> Callable[..., Iterator[Unit]]:
    """A family of one unit that turns results into something to read."""

    def units(params: Params) -> Iterator[Unit]:
        figure1 = [unit.id for unit in _figure1(params)] if family != "tables" else []
        if family == "report":
            figure1 += [unit.id for unit in ladder_unit(params, PAPER)]
        alone = family in {"claims", "report"}  # single files beside each other in outputs/
        folder = Path("outputs") if alone else Path("outputs") / family
        yield Unit(
            family=family,
            name="all",
            folder=folder,
            receipt=folder / (f"{family}.receipt.json" if alone else "receipt.json"),
            needs=("collect:all", *figure1, *needs),
            params=layout(params),
            modules=(f"sharc.stages.{family}",),
            files=files,
        )

    return units


FAMILIES: dict[str, Callable[[Params], Iterator[Unit]]] = {
    "download": _download,
    "split": _split,
    "features": _features,
    "streamed": _streamed,
    "train": _train,
    "figure1": _figure1,
    "rungs": rungs_units,
    "ladder": lambda params: ladder_unit(params, PAPER),
    "collect": _collect,
    "tables": _for_people("tables", PAPER),
    "figures": _for_people("figures", PAPER),
    "claims": _for_people("claims", PAPER + CLAIMS),
    "report": _for_people("report", (), "tables:all", "figures:all", "claims:all"),
}


def expected_runs(params: Params) -> list[dict[str, Any]]:
    """The identity of every run of the grid."""
    return [
        {
            "dataset": cell.dataset,
            "backbone": cell.backbone,
            "method": cell.method,
            "variant": cell.variant.name,
            "memory": cell.variant.memory,
            "theta": cell.variant.theta,
            "buffer": cell.buffer,
            "seed": seed,
        }
        for cell in cells(params)
        for seed in params.chosen.seeds
    ]


def layout(params: Params) -> dict[str, Any]:
    """What tables, figures and claims must know about the suite."""
    suite = params.chosen
    return {
        "suite": params.suite,
        "protocol": params.protocol,
        "main": suite.buffers,
        "appendix": suite.appendix_buffers,
        "datasets": suite.datasets,
        "backbone": suite.backbone,
        "methods": suite.methods,
        "without_replay": [name for name in suite.methods if not replays(name)],
        "looks": looks.added(),
        "memory": params.sharc.memory,
        "theta": params.sharc.theta.model_dump(),
        "memories": suite.memories.model_dump() if suite.memories else None,
        "thetas": suite.thetas.model_dump() if suite.thetas else None,
        "seeds": suite.seeds,
        "image_size": params.features.image_size,
    }


def _datasets(params: Params) -> list[str]:
    drawn = params.chosen.figure1
    return list(dict.fromkeys([*params.chosen.datasets, *([drawn] if drawn else [])]))
