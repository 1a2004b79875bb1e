"""`sharc trace`: from a cell of a table back to runs, parameters, commit and data."""

import csv
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sharc.artifacts.digests import digest
from sharc.artifacts.files import read_json
from sharc.config import Params, load_params
from sharc.errors import UserError, unknown
from sharc.grid import Cell, cells
from sharc.registry import METHODS
from sharc.results.layout import SCENARIOS
from sharc.workflow.families import build_graph
from sharc.workflow.told import UNCOMMITTED
from sharc.workflow.units import Graph, Unit

RUNS = Path("outputs/results/runs.csv")
console = Console()


def trace_cell(
    method: str, scenario: str, buffer: int, dataset: str | None, suite: str | None
) -> None:
    """Print the chain from one cell of a table down to the digest of the data it rests on."""
    params = load_params(suite=suite)
    cell = _find(params, method, scenario, buffer, dataset)
    graph = build_graph(params)
    kept_as = cell.variant.memory or "dense"
    unit = graph.units[f"train:{cell.dataset}/{cell.backbone}/{cell.method}/{kept_as}"]
    _show_runs(cell, scenario)
    _show_making(unit)
    _show_inputs(graph, unit)


def _find(params: Params, method: str, scenario: str, buffer: int, dataset: str | None) -> Cell:
    name, plus = method.removesuffix("+"), method.endswith("+")
    if name not in METHODS:
        raise UserError(unknown("method", name, METHODS))
    if scenario not in SCENARIOS:
        raise UserError(unknown("scenario", scenario, SCENARIOS))
    theta = getattr(params.sharc.theta, scenario) if plus else None
    wanted = (dataset or params.chosen.datasets[0], name, buffer, theta)
    for cell in cells(params):
        memory = params.sharc.memory if plus else None
        found = (cell.dataset, cell.method, cell.buffer, cell.variant.theta)
        if found == wanted and cell.variant.memory == memory:
            return cell
    raise UserError(
        f"suite {params.suite!r} has no cell {method} on {wanted[0]} with buffer {buffer}. "
        f"Its data sets: {', '.join(params.chosen.datasets)}; its buffers: "
        f"{', '.join(map(str, [*params.chosen.buffers, *params.chosen.appendix_buffers]))} "
        "(0 for sgd and joint)."
    )


def _show_runs(cell: Cell, scenario: str) -> None:
    if not RUNS.is_file():
        raise UserError(f"{RUNS} does not exist: build it with `snakemake --cores 2 all`.")
    with RUNS.open(newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if _matches(row, cell, scenario)]
    if not rows:
        raise UserError(
            f"{RUNS} has no run of {cell.method} {cell.variant.name} on {cell.dataset} with buffer "
            f"{cell.buffer}: it was built for another suite. `sharc grid` says what is to be built."
        )
    table = Table("seed", "status", "ACC", "BWT", "record", title=f"{cell.method} {scenario}")
    for row in rows:
        table.add_row(row["seed"], row["status"], row["acc"], row["bwt"], row["record"])
    console.print(table)


def _matches(row: dict[str, str], cell: Cell, scenario: str) -> bool:
    identity = (cell.dataset, cell.method, cell.variant.name, str(cell.buffer), scenario)
    names = ("dataset", "method", "variant", "buffer", "scenario")
    return tuple(row[name] for name in names) == identity


def _show_making(unit: Unit) -> None:
    record: dict[str, Any] = read_json(unit.provenance)
    dirty = UNCOMMITTED if record["dirty"] else ""
    console.print(f"made by {unit.id} at commit {record['commit']}{dirty}")
    console.print(f"on {record['processor']} ({record['device']}), {record['wall_seconds']} s")
    console.print("options:", record["params"]["options"])
    changed = [n for n, was in record["sources"].items() if digest(Path(n)) != was]
    console.print(f"code: {len(record['sources'])} files, {len(changed)} changed since", *changed)


def _show_inputs(graph: Graph, unit: Unit) -> None:
    for need in graph.needs(unit):
        receipt = need.load_receipt()
        count = len(receipt.outputs) if receipt else 0
        console.print(f"  reads {need.id}: {count} files in {need.folder}")
        meta = need.folder / "meta.json"
        if need.family == "download" and meta.is_file():
            console.print("    data:", read_json(meta))
        _show_inputs(graph, need)
