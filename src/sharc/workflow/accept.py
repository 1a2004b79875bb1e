"""`snakemake --touch`: accept existing files as made by the current code and parameters.

Their provenance still says when and by which commit they were made, and that they were accepted.
"""

from pathlib import Path
from typing import Any

from sharc.artifacts.digests import digest
from sharc.artifacts.files import read_json, write_json
from sharc.artifacts.provenance import git
from sharc.artifacts.receipts import Receipt, write_receipt
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job


def accept(graph: Graph, touched: set[str]) -> None:
    """Write the receipts of the jobs that were touched, as if they had just run."""
    for name, job in graph.jobs.items():
        receipt, inputs = job.load_receipt(), graph.inputs(job)
        whole = receipt and all(Path(output).is_file() for output in receipt.outputs)
        if name in touched and receipt and inputs is not None and whole:
            _accept(graph, job, receipt, inputs)


def _accept(graph: Graph, job: Job, receipt: Receipt, inputs: dict[str, str]) -> None:
    key = graph.key(job, inputs)
    outputs = {output: digest(Path(output)) for output in receipt.outputs}
    if receipt == (renewed := Receipt(key, outputs, receipt.failed)):
        return

    def key_of(settings: Any) -> str:
        return graph.part_key(job, inputs, settings)

    job.accept_parts(key_of)
    if job.provenance.is_file():
        now = {"key": key, "params": job.settings, "sources": graph.code(job)}
        now |= {"classes": job.found, "inputs": inputs, "outputs": outputs}
        accepted = {"accepted": {"commit": git("rev-parse", "HEAD"), "made_as": receipt.key}}
        write_json(job.provenance, read_json(job.provenance) | now | accepted)
    write_receipt(job.receipt, renewed)
