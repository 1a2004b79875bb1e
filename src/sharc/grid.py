"""The grid of a suite: which runs there are, before any of them is made."""

from collections.abc import Iterator
from dataclasses import dataclass

from sharc.config import Params
from sharc.config.suites import Comparison
from sharc.registry import WITHOUT_MEMORY

DENSE = "dense"


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


def cells(params: Params) -> list[Cell]:
    """Every cell that the tables and figures of the chosen suite need, each once."""
    return list(dict.fromkeys([*_table_cells(params), *_figure_cells(params)]))


def _table_cells(params: Params) -> Iterator[Cell]:
    suite = params.chosen
    plus = [Variant(params.sharc.memory, theta) for theta in sorted(table_thetas(params))]
    for dataset in suite.datasets:
        for method in suite.methods:
            if method in WITHOUT_MEMORY:
                yield Cell(dataset, suite.backbone, method, Variant(), 0)
                continue
            for variant in [Variant(), *plus]:
                for buffer in [*suite.buffers, *suite.appendix_buffers]:
                    yield Cell(dataset, suite.backbone, method, variant, buffer)


def _figure_cells(params: Params) -> Iterator[Cell]:
    memories, thetas = params.chosen.memories, params.chosen.thetas
    if memories:
        names = [*memories.names, params.sharc.memory]
        yield from _varied(params, memories, [v for n in names for v in _variants(params, n)])
    if thetas:
        yield from _varied(params, thetas, [Variant(params.sharc.memory, t) for t in thetas.values])


def _variants(params: Params, memory: str) -> list[Variant]:
    """A memory at the tables' thetas; stored pooled, nothing is left to drop."""
    thetas = [0.0] if memory == "pooled" else sorted(table_thetas(params))
    return [Variant(memory, theta) for theta in thetas]


def _varied(params: Params, figure: Comparison, variants: list[Variant]) -> Iterator[Cell]:
    for method in figure.methods:
        for variant in variants:
            yield Cell(figure.dataset, params.chosen.backbone, method, variant, figure.buffer)


def table_thetas(params: Params) -> set[float]:
    """The shares of dropped channels in the tables: one per scenario."""
    return {params.sharc.theta.task_il, params.sharc.theta.class_il}
