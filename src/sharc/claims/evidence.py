"""What a check may look at: our results, the paper's numbers, and which cells it names."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

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
class Place:
    """One cell of the tables: where a "+" stands against its base."""

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

    def places(self, cells: dict[str, Any], *, printed: bool = False) -> Iterator[Place]:
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
        if printed:  # two of our data sets stand beside the paper's third column: count it once
            chosen[0] = tuple(dict.fromkeys(labels.PAPER_COLUMN.get(d, d) for d in chosen[0]))
        for dataset, method, buffer in product(*chosen):
            yield Place(cells["scenario"], dataset, method, buffer)

    def seeds(self, place: Place, variant: str, metric: str = "acc") -> Gains:
        """A metric by seed; empty where the suite has no such run."""
        backbone = self.layout.backbone_of(self.results.summary, place.dataset)
        return self.results.seeds(
            metric, place.dataset, backbone, place.method, variant, place.buffer, place.scenario
        )

    def gain(self, place: Place, metric: str = "acc") -> Gains:
        """The "+" minus its base by seed, at the scenario's theta."""
        plus = self.seeds(place, self.layout.variant(place.scenario, plus=True), metric)
        return difference(plus, self.seeds(place, "dense", metric))

    def gains(self, cells: dict[str, Any]) -> dict[Place, Gains]:
        """Gains of every named cell that the suite has."""
        metric = cells.get("metric", "acc")
        found = {place: self.gain(place, metric) for place in self.places(cells)}
        return {place: gain for place, gain in found.items() if gain}

    def lost(self, cells: dict[str, Any]) -> int:
        """How many named cells were planned, but have no pair of successful runs."""
        planned = set(self.results.provenance)
        return sum(
            {self.name(place), self.name(place, "dense")} <= planned and not self.gain(place)
            for place in self.places(cells)
        )

    def printed_gains(self, cells: dict[str, Any]) -> list[Estimate]:
        """The paper's own gains for the same cells."""
        metric = cells.get("metric", "acc")
        found = [
            self.paper.gain(place.scenario, place.dataset, place.method, place.buffer, metric)
            for place in self.places(cells, printed=True)
        ]
        return [gain for gain in found if gain is not None]

    def name(self, place: Place, variant: str | None = None) -> str:
        """The cell's name in provenance.json; the "+" cell unless a variant is given."""
        fields = {
            "dataset": place.dataset,
            "backbone": self.layout.backbone_of(self.results.summary, place.dataset),
            "method": place.method,
            "variant": variant or self.layout.variant(place.scenario, plus=True),
            "buffer": place.buffer,
        }
        return cell_name(fields)
