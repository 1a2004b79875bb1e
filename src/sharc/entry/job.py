"""Build one job: check what it reads, run its stage, write provenance and, last, the receipt.

Called by the rules of the Snakefile:  python -m sharc.entry.job outputs/report.html
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sharc.artifacts import provenance
from sharc.artifacts.digests import digest, require
from sharc.artifacts.files import digest_of, write_json, write_text
from sharc.artifacts.receipts import Receipt, write_receipt
from sharc.errors import UserError
from sharc.pipeline import load_graph
from sharc.workflow.freshness import by_reason
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Build, Job, Result

FORCED = "SHARC_FORCED"  # environment variable: jobs that Snakemake was asked to force


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the job named on the command line; 2 for a user's mistake, 1 for anything else."""
    parser = argparse.ArgumentParser(prog="python -m sharc.entry.job", description=__doc__)
    parser.add_argument("target", help="the main file of the job")
    parser.add_argument("--suite", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log", type=Path)
    chosen = parser.parse_args(arguments)
    name = chosen.target
    try:
        graph = load_graph(chosen.suite)
        job = graph.made_by(chosen.target)
        name = job.id
        message, code = build(graph, job, chosen.threads), 0
    except UserError as error:
        message, code = str(error), 2
    except Exception as error:
        message, code = f"{type(error).__name__}: {error}\n{traceback.format_exc()}", 1
    print(f"{name}: {message}", file=sys.stderr if code else sys.stdout)
    if chosen.log:
        with suppress(OSError, UserError):  # a full disk has no room for the log either
            write_text(chosen.log, f"{name}: {message}\n")
    return code


def build(graph: Graph, job: Job, threads: int) -> str:
    """Bring a job up to date; returns what was done, `built` or `kept`."""
    inputs = graph.inputs(job)
    if inputs is None:
        needed = ", ".join(need.id for need in job.needs)
        raise UserError(f"{job.id} cannot be built before {needed}.")
    key, forced = graph.key(job, inputs), job.id in os.environ.get(FORCED, "").split()
    receipt = job.load_receipt()
    current = receipt and receipt.key == key and not receipt.failed and not receipt.first_mismatch()
    if current and not forced:
        return "kept: its inputs have not changed"
    for name, expected in inputs.items():
        require(Path(name), expected)
    watch = provenance.Stopwatch()

    def key_of(settings: Any) -> str:
        return graph.part_key(job, inputs, settings)

    result = job.run(Build(graph.params, threads, inputs, key_of, forced))
    record = _record(graph, job, inputs, result)
    write_json(job.provenance, record | provenance.surroundings(threads) | watch.reading())
    write_receipt(job.receipt, Receipt(key, record["outputs"], result.failed))
    if not result.failed:
        return "built"
    lines = by_reason(result.failed).values()
    return "\n".join(["built", f"{len(result.failed)} of its runs failed:", *lines])


def _record(graph: Graph, job: Job, inputs: dict[str, str], result: Result) -> dict[str, Any]:
    """The provenance of the job's outputs."""
    sources = graph.code(job)
    return {
        "job": job.id,
        "suite": graph.params.suite,
        "key": graph.key(job, inputs),
        "params": job.settings,
        "seeds": job.settings.get("seeds", []),
        "source_digest": digest_of(sources),
        "sources": sources,
        "classes": job.found,
        "inputs": inputs,
        "outputs": {str(path): digest(path) for path in sorted(result.outputs)},
        "notes": result.notes,
    }


if __name__ == "__main__":
    sys.exit(main())
