"""The grid of a suite: which runs there are, before any of them is made."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sharc.artifacts.runs import DENSE
from sharc.config import Params
from sharc.registry import replays


@dataclass(frozen=True, order=True)
class Variant:
    """How a method's memory is kept: whole, or masked at `theta` and recalled by `memory`."""

    memory: str | None = None
    theta: float | None = None

    @property
    def name(self) -> str:
        """The path segment: `dense`, or for example `bayes_pcn-t0.8`."""
        return DENSE if self.memory is None else f"{self.memory}-t{self.theta:g}"


@dataclass(frozen=True)
class Cell:
    """One cell of a table: everything but the seed."""

    dataset: str
    backbone: str
    method: str
    variant: Variant
    buffer: int

    @property
    def identity(self) -> dict[str, Any]:
        """What the records of its runs say of themselves, apart from the seed."""
        return {
            "dataset": self.dataset,
            "backbone": self.backbone,
            "method": self.method,
            "variant": self.variant.name,
            "memory": self.variant.memory,
            "theta": self.variant.theta,
            "buffer": self.buffer,
        }


def cells(params: Params) -> list[Cell]:
    """Every cell that the tables and figures of the chosen suite need, each once."""
    return list(dict.fromkeys([*_table_cells(params), *_figure_cells(params)]))


def _table_cells(params: Params) -> Iterator[Cell]:
    suite = params.chosen
    plus = [Variant(params.sharc.memory, theta) for theta in sorted(table_thetas(params))]
    for dataset in suite.datasets:
        for method in suite.methods:
            if not replays(method):
                yield Cell(dataset, suite.backbone, method, Variant(), 0)
                continue
            for variant in [Variant(), *plus]:
                for buffer in [*suite.buffers, *suite.appendix_buffers]:
                    yield Cell(dataset, suite.backbone, method, variant, buffer)


def _figure_cells(params: Params) -> Iterator[Cell]:
    suite = params.chosen
    memories, thetas, backbone = suite.memories, suite.thetas, suite.backbone
    if memories:
        for method, scenario in memories.methods.items():
            theta = getattr(params.sharc.theta, scenario)
            for name in [*memories.names, params.sharc.memory]:
                # stored pooled, nothing is left to drop
                variant = Variant(name, 0.0 if name == "pooled" else theta)
                yield Cell(memories.dataset, backbone, method, variant, memories.buffer)
    if thetas:
        for method in thetas.methods:
            for theta in thetas.values:
                variant = Variant(params.sharc.memory, theta)
                yield Cell(thetas.dataset, backbone, method, variant, thetas.buffer)


def table_thetas(params: Params) -> set[float]:
    """The shares of dropped channels in the tables: one per scenario."""
    return {params.sharc.theta.task_il, params.sharc.theta.class_il}
