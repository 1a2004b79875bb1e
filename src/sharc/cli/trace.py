"""`sharc trace`: from a cell of a table back to its runs, parameters, commit and data."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sharc.artifacts.digests import digest
from sharc.artifacts.files import read_json
from sharc.artifacts.runs import DENSE
from sharc.config import Params, load_params
from sharc.errors import UserError, unknown
from sharc.grid import Cell, cells
from sharc.pipeline import build_graph
from sharc.report.facts import commit_of
from sharc.results import labels
from sharc.results.layout import SCENARIOS
from sharc.workflow.stage import Job

RESULTS = Path("outputs/results")


def trace_cell(
    method: str,
    scenario: str,
    buffer: int,
    dataset: str | None,
    suite: str | None,
    everything: bool = False,
) -> None:
    """Print the chain from one cell of a table down to the digest of its data."""
    params = load_params(suite=suite)
    cell = _find(params, method, scenario, buffer, dataset)
    graph = build_graph(params)
    memory = cell.variant.memory or DENSE
    job = graph.jobs[f"train:{cell.dataset}/{cell.backbone}/{cell.method}/{memory}"]
    made = read_json(job.provenance) if job.provenance.is_file() else None
    if made is None:
        raise UserError(f"{job.id} is not built yet. `sharc grid` lists what is left to build.")
    for line in [
        _title(params, cell, scenario),
        *_numbers(cell, scenario),
        *_runs(cell, scenario),
        *_making(made),
        *_data(job),
        f"again     snakemake --cores 2 {job.target} --config suite={params.suite}",
        *(_everything(made) if everything else ()),
    ]:
        print(line)
    if not everything:
        print("\n--all adds the options, the sources and every digest.")


def _find(params: Params, method: str, scenario: str, buffer: int, dataset: str | None) -> Cell:
    name, plus = method.removesuffix("+"), method.endswith("+")
    members = cells(params)
    if name not in (known := {cell.method for cell in members}):
        raise UserError(f"suite {params.suite!r}: {unknown('method', name, known)}")
    if scenario not in SCENARIOS:
        raise UserError(unknown("scenario", scenario, SCENARIOS))
    theta = getattr(params.sharc.theta, scenario) if plus else None
    wanted = (dataset or params.chosen.datasets[0], name, buffer, theta)
    for cell in members:
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


def _title(params: Params, cell: Cell, scenario: str) -> str:
    plus = "+" if cell.variant.memory else ""
    where = f"{labels.dataset(cell.dataset)}, {labels.scenario(scenario)}"
    kept = f"buffer {cell.buffer}" if cell.buffer else "no buffer"
    if cell.variant.memory:
        kept += f", {labels.memory(cell.variant.memory)}, θ = {cell.variant.theta:g}"
    return f"{labels.method(cell.method)}{plus} on {where}, {kept} (suite {params.suite})\n"


def _numbers(cell: Cell, scenario: str) -> Iterator[str]:
    from sharc.results.folder import Results

    summary = Results(RESULTS).summary
    rows = _rows(summary.to_dict("records"), cell, scenario)
    for name in ("acc", "bwt"):
        yield f"{name.upper():10}{_estimate(rows[0], name)}"
    if not math.isnan(rows[0]["gain_mean"]):
        gain = " to ".join(labels.signed(rows[0][f"gain_{end}"]) for end in ("low", "high"))
        mean = labels.signed(rows[0]["gain_mean"])
        base, said = labels.method(cell.method), _verdict(rows[0])
        yield f"{'gain':10}{mean} over {base}, 95 % interval {gain}: {said}"


def _verdict(row: dict[str, Any]) -> str:
    from sharc.results.statistics import Estimate
    from sharc.results.verdicts import direction

    ends = (row["gain_low"], row["gain_high"])
    return direction(Estimate(int(row["gain_n"]), row["gain_mean"], math.nan, *ends))


def _estimate(row: dict[str, Any], name: str) -> str:
    """`97.26 ± 1.47, 95 % interval 96.10 to 98.50, 5 runs`."""
    mean, sd, low, high = (row[f"{name}_{part}"] for part in ("mean", "sd", "low", "high"))
    if math.isnan(mean):
        return "n/a" if row["n"] else "missing"
    spread = "" if math.isnan(sd) else f" ± {sd:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    lost = f", {row['n_missing']} missing" if row["n_missing"] else ""
    return f"{mean:.2f}{spread}, {row['n']} runs{lost}"


def _runs(cell: Cell, scenario: str) -> Iterator[str]:
    from sharc.results.folder import Results

    rows = _rows(Results(RESULTS).runs.to_dict("records"), cell, scenario)
    record = next((row["record"] for row in rows if row["status"] == "ok"), "")
    yield f"{'runs':10}{'ACC':>6}  {'BWT':>6}  outputs/runs/{record.rpartition('/')[0]}/"
    for row in rows:
        scores = "  ".join(
            f"{'n/a':>6}" if math.isnan(row[name]) else f"{row[name]:6.2f}"
            for name in ("acc", "bwt")
        )
        what = "" if row["status"] == "ok" else f": {row['status']}"
        yield f"{'':10}{scores}  seed{row['seed']}.json{what}"


def _rows(table: list[dict[str, Any]], cell: Cell, scenario: str) -> list[dict[str, Any]]:
    identity = (cell.dataset, cell.method, cell.variant.name, cell.buffer, scenario)
    names = ("dataset", "method", "variant", "buffer", "scenario")
    found = [row for row in table if tuple(row[name] for name in names) == identity]
    if not found:
        raise UserError(
            f"{RESULTS} has no run of {cell.method} {cell.variant.name} on {cell.dataset} with "
            f"buffer {cell.buffer}: it was built for another suite. `sharc grid` lists what "
            "is left to build."
        )
    return found


def _making(made: dict[str, Any]) -> Iterator[str]:
    yield f"{'commit':10}{commit_of(made)}"
    changed = [name for name, was in made["sources"].items() if _digest(name) != was]
    since = f"{len(changed)} of them changed since" if changed else "unchanged since"
    yield f"{'code':10}{len(made['sources'])} files, {since}"
    yield (
        f"{'made':10}in {made['wall_seconds']:.1f} s with its other thetas and buffers, on "
        f"{made['processor']} ({made['device']})"
    )


def _digest(name: str) -> str | None:
    return digest(Path(name)) if Path(name).is_file() else None


def _data(job: Job) -> Iterator[str]:
    for source in _sources(job):
        meta = read_json(source.folder / "meta.json")
        for split, facts in meta["splits"].items():
            yield f"{'data':10}{source.name}, {facts['items']} images to {split}"
            yield f"{'':10}{facts['digest']}"


def _sources(job: Job) -> list[Job]:
    """The data sets that a job rests on, each once."""
    found: dict[str, Job] = {}
    for need in job.needs:
        mine = [need] if need.stage == "download" else _sources(need)
        found |= {source.id: source for source in mine if (source.folder / "meta.json").is_file()}
    return list(found.values())


def _everything(made: dict[str, Any]) -> Iterator[str]:
    yield f"\noptions   {json.dumps(made['params']['options'], sort_keys=True)}"
    for name, was in made["sources"].items():
        mark = "" if _digest(name) == was else "  changed since"
        yield f"{'source':10}{was[:12]}  {name}{mark}"
    for name, was in made["inputs"].items():
        yield f"{'input':10}{was[:12]}  {name}"
