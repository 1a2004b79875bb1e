"""Stage split: data/raw -> data/splits/<dataset>.json."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sharc.config import Params
from sharc.pipeline.download import Download
from sharc.pipeline.specification_runs import stream_specs
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result

PART = "@ladder"  # marks the split that holds the ladder's part of a data set


@dataclass(frozen=True, eq=False)
class Split(Job):
    """The classes of a data set laid out over tasks; of all its images, or of a part."""

    stage = "split"
    owns_folder = False
    origins = {"tasks": "datasets.{dataset}", "": "data"}

    dataset: str

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        params = graph.params
        for dataset in params.chosen.datasets:
            yield cls._of(graph, dataset, dataset, {})
        if ladder := params.chosen.ladder:
            sizes = {"train": ladder.train_images, "test": ladder.test_images}
            for dataset in ladder.datasets:
                tasks = params.datasets[dataset].tasks
                each = {part: size and max(size // tasks, 1) for part, size in sizes.items()}
                yield cls._of(graph, dataset, f"{dataset}{PART}", {"per_task": each})
        splits = {
            name: (stream.dataset, settings)
            for stream in stream_specs(params).values()
            for name, settings in stream.splits.items()
        }
        for name, (dataset, settings) in splits.items():
            yield cls._of(graph, dataset, name, settings)

    @classmethod
    def _of(cls, graph: Graph, dataset: str, name: str, part: dict[str, Any]) -> Self:
        settings = _settings(graph.params, dataset) | part
        return cls(name, settings, (graph.one(Download, dataset),), dataset)

    @property
    def folder(self) -> Path:
        return Path("data/splits")

    @property
    def target(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def receipt(self) -> Path:
        return self.folder / f"{self.name}.receipt.json"

    def run(self, build: Build) -> Result:
        from sharc.stages import split

        (raw,) = self.needs
        split.build(raw.folder, self.target, **self.settings, batch=build.params.train.batch)
        return Result([self.target])


def _settings(params: Params, dataset: str) -> dict[str, Any]:
    return {
        "tasks": params.datasets[dataset].tasks,
        "class_order": params.data.class_order,
        "validation_share": params.data.validation_share,
    }
