"""What a check reads: our results, the paper's numbers, and the table entries it names."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from sharc.artifacts.runs import DENSE
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.results.statistics import Estimate, difference
from sharc.results.tidy import cell_name

ANY = "any"
CELL_KEYS = ("scenario", "datasets", "methods", "buffers", "metric")
Gains = dict[int, float]


@dataclass(frozen=True)
class Entry:
    """One entry of the tables: a method on a data set at a buffer, with and without SHARC."""

    scenario: str
    dataset: str
    method: str
    buffer: int


@dataclass(frozen=True)
class Evidence:
    """Everything a check reads."""

    results: Results
    layout: Layout
    paper: Paper
    figure1: Path | None

    def entries(self, cells: dict[str, Any], *, printed: bool = False) -> Iterator[Entry]:
        """The cells a claim names; `any` stands for all that the suite (or the paper) has."""
        datasets, methods, buffers = (
            (("cifar10", "cifar100", "mini_imagenet"), labels.REPLAY, (200, 500, 1000))
            if printed
            else (self.layout.datasets, self.layout.plus_methods(), self.layout.buffers)
        )
        chosen = [
            tuple(everything if cells.get(name, ANY) == ANY else cells[name])
            for name, everything in (
                ("datasets", datasets),
                ("methods", methods),
                ("buffers", buffers),
            )
        ]
        if printed:  # two of our data sets share the paper's third column: count it once
            chosen[0] = tuple(dict.fromkeys(labels.PAPER_COLUMN.get(d, d) for d in chosen[0]))
        for dataset, method, buffer in product(*chosen):
            yield Entry(cells["scenario"], dataset, method, buffer)

    def seeds(self, entry: Entry, variant: str, metric: str = "acc") -> Gains:
        """A metric by seed; empty where the suite has no such run."""
        backbone = self.layout.backbone_of(self.results.summary, entry.dataset)
        return self.results.seeds(
            metric, entry.dataset, backbone, entry.method, variant, entry.buffer, entry.scenario
        )

    def gain(self, entry: Entry, metric: str = "acc") -> Gains:
        """The "+" minus its base by seed, at the scenario's theta."""
        plus = self.seeds(entry, self.layout.variant(entry.scenario, plus=True), metric)
        return difference(plus, self.seeds(entry, DENSE, metric))

    def gains(self, cells: dict[str, Any]) -> dict[Entry, Gains]:
        """Gains of every named cell that the suite has."""
        metric = cells.get("metric", "acc")
        found = {entry: self.gain(entry, metric) for entry in self.entries(cells)}
        return {entry: gain for entry, gain in found.items() if gain}

    def lost(self, cells: dict[str, Any]) -> int:
        """How many named cells were planned, but have no pair of successful runs."""
        planned = set(self.results.provenance)
        return sum(
            {self.name(entry), self.name(entry, DENSE)} <= planned and not self.gain(entry)
            for entry in self.entries(cells)
        )

    def printed_gains(self, cells: dict[str, Any]) -> list[Estimate]:
        """The paper's own gains for the same cells."""
        metric = cells.get("metric", "acc")
        found = [
            self.paper.gain(entry.scenario, entry.dataset, entry.method, entry.buffer, metric)
            for entry in self.entries(cells, printed=True)
        ]
        return [gain for gain in found if gain is not None]

    def name(self, entry: Entry, variant: str | None = None) -> str:
        """The cell's name in provenance.json; the "+" cell unless a variant is given."""
        fields = {
            "dataset": entry.dataset,
            "backbone": self.layout.backbone_of(self.results.summary, entry.dataset),
            "method": entry.method,
            "variant": variant or self.layout.variant(entry.scenario, plus=True),
            "buffer": entry.buffer,
        }
        return cell_name(fields)
