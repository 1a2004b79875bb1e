"""The ladder's units: a part of the data, features under other switches, runs, and the picture."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharc.config import Params
from sharc.config.suites import Ladder
from sharc.grid import DENSE, Cell, Variant
from sharc.ladder import Rung, rungs
from sharc.workflow.feature_units import streamed_unit
from sharc.workflow.train_params import train_modules, train_params
from sharc.workflow.units import Unit

PART = "@ladder"  # marks the split that holds the ladder's part of a data set


@dataclass(frozen=True)
class Climb:
    """One cell of the ladder's table: what it is, what it needs, and where its runs were made."""

    cell: Cell
    rung: int
    made_at: int  # an earlier rung where this one changes nothing for the cell
    features: Unit
    params: dict[str, Any]

    @property
    def kept_as(self) -> str:
        """The memory, or `dense`."""
        return self.cell.variant.memory or DENSE


def split_parts(params: Params) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and sizes of the splits that hold a part of a data set."""
    if ladder := params.chosen.ladder:
        sizes = {"train": ladder.train_images, "test": ladder.test_images}
        for dataset in ladder.datasets:
            tasks = params.datasets[dataset].tasks
            each = {part: size and max(size // tasks, 1) for part, size in sizes.items()}
            yield dataset, {"per_task": each}


def ladder_features(params: Params) -> Iterator[Unit]:
    """Features that only the ladder asks for."""
    if ladder := params.chosen.ladder:
        for name in ladder.datasets:
            units = {climb.features.id: climb.features for climb in climbs(params, ladder, name)}
            yield from units.values()


def climbs(params: Params, ladder: Ladder, dataset: str) -> list[Climb]:
    """Every rung of every method, with and without SHARC."""
    found: list[Climb] = []
    steps = rungs(params, ladder)
    for method in ladder.methods:
        for variant in (Variant(), Variant(params.sharc.memory, ladder.theta)):
            cell = Cell(dataset, params.chosen.backbone, method, variant, ladder.buffer)
            mine: list[Climb] = []
            for rung in steps:
                mine.append(_climb(rung, cell, ladder.methods, mine))
            found += mine
    return found


def _climb(rung: Rung, cell: Cell, methods: list[str], before: list[Climb]) -> Climb:
    features = streamed_unit(rung.params, cell.dataset, methods, PART)
    told = train_params(rung.params, cell.method, cell.variant.memory or DENSE, [cell])
    same = (c.made_at for c in before if (c.params, c.features.id) == (told, features.id))
    return Climb(cell, rung.number, next(same, rung.number), features, told)


def rungs_units(params: Params) -> Iterator[Unit]:
    """One unit per data set and method: all its runs on all rungs."""
    if (ladder := params.chosen.ladder) is None:
        return
    for dataset in ladder.datasets:
        found = [c for c in climbs(params, ladder, dataset) if c.made_at == c.rung]
        for method in ladder.methods:
            made = [c for c in found if c.cell.method == method]
            folder = Path("outputs/rungs") / dataset / method
            yield Unit(
                family="rungs",
                name=f"{dataset}/{method}",
                folder=folder,
                receipt=folder / "receipt.json",
                needs=(f"split:{dataset}{PART}", *dict.fromkeys(c.features.id for c in made)),
                params={"runs": [_run(c) for c in made], "seeds": params.chosen.seeds},
                modules=tuple(dict.fromkeys(m for c in made for m in _modules(c))),
            )


def _modules(climb: Climb) -> list[str]:
    return train_modules(climb.cell.method, climb.kept_as, climb.params)


def _run(climb: Climb) -> dict[str, Any]:
    return {
        "rung": climb.rung,
        "kept_as": climb.kept_as,
        "features": climb.features.id,
        "options": climb.params["options"],
        "cell": climb.params["cells"][0],
    }


def ladder_unit(params: Params, files: tuple[str, ...]) -> Iterator[Unit]:
    """The table and the figure."""
    if ladder := params.chosen.ladder:
        folder = Path("outputs/ladder")
        yield Unit(
            family="ladder",
            name="all",
            folder=folder,
            receipt=folder / "receipt.json",
            needs=tuple(unit.id for unit in rungs_units(params)),
            params=_layout(params, ladder),
            modules=("sharc.stages.ladder",),
            files=files,
        )


def _layout(params: Params, ladder: Ladder) -> dict[str, Any]:
    return {
        "suite": params.suite,
        "buffer": ladder.buffer,
        "theta": ladder.theta,
        "memory": params.sharc.memory,
        "seeds": params.chosen.seeds,
        "backbone": params.chosen.backbone,
        "part": ladder.model_dump(include={"train_images", "test_images"}),
        "rungs": [rung.told() for rung in rungs(params, ladder)],
        "cells": [
            {
                "rung": climb.rung,
                "made_at": climb.made_at,
                "dataset": dataset,
                "method": climb.cell.method,
                "variant": climb.cell.variant.name,
            }
            for dataset in ladder.datasets
            for climb in climbs(params, ladder, dataset)
        ],
    }
