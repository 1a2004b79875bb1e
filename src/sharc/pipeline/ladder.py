"""Stage ladder: the ladder's runs -> outputs/ladder, one table and one figure."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sharc.config import Params
from sharc.config.suites import Ladder as Block
from sharc.ladder import rungs
from sharc.pipeline.layout import PAPER
from sharc.pipeline.rungs import Rungs, ladder_cells
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class Ladder(Job):
    """The way from the authors' code to the paper, as far as this suite walks it."""

    stage = "ladder"
    main = "ladder.md"
    reads = (str(PAPER),)
    exported = ("ladder.csv", "ladder.md", "ladder.png")

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        if ladder := graph.params.chosen.ladder:
            yield cls("all", _layout(graph.params, ladder), tuple(graph.of(Rungs)))

    def run(self, build: Build) -> Result:
        from sharc.stages import ladder

        records = [Path(name) for name in build.inputs]
        ladder.build(records, PAPER, self.folder, layout=self.settings)
        return Result(files_in(self.folder))


def _layout(params: Params, ladder: Block) -> dict[str, Any]:
    return {
        "suite": params.suite,
        "buffer": ladder.buffer,
        "theta": ladder.theta,
        "memory": params.sharc.memory,
        "seeds": params.chosen.seeds,
        "backbone": params.chosen.backbone,
        "part": ladder.model_dump(include={"train_images", "test_images"}),
        "rungs": [rung.as_dict() for rung in rungs(params, ladder)],
        "cells": [
            {
                "rung": one.rung,
                "runs_from": one.runs_from,
                "dataset": dataset,
                "method": one.cell.method,
                "variant": one.cell.variant.name,
            }
            for dataset in ladder.datasets
            for one in ladder_cells(params, ladder, dataset)
        ],
    }
