"""Build one unit: check what it reads, run its stage, write provenance and, last, the receipt.

Called by the rules of the Snakefile:  python -m sharc.workflow.job train cifar10/resnet18/er/dense
"""

import argparse
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
from sharc.config import Params, load_params
from sharc.errors import UserError
from sharc.workflow.families import build_graph
from sharc.workflow.units import Graph, Unit


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the unit named on the command line; 2 for a user's mistake, 1 for anything else."""
    parser = argparse.ArgumentParser(prog="python -m sharc.workflow.job", description=__doc__)
    parser.add_argument("family")
    parser.add_argument("unit")
    parser.add_argument("--suite", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log", type=Path)
    chosen = parser.parse_args(arguments)
    name = f"{chosen.family}:{chosen.unit}"
    try:
        params = load_params(suite=chosen.suite)
        graph = build_graph(params)
        if name not in graph.units:
            raise UserError("is no unit of the grid: params.yaml was changed during the build.")
        said, code = build(graph, graph.units[name], params, chosen.threads), 0
        if chosen.family == "report" and (failed := failures(graph)):
            said, code = f"{said}, but {failed}", 1
    except UserError as error:
        said, code = str(error), 2
    except Exception as error:
        said, code = _unforeseen(error), 1
    print(f"{name}: {said}", file=sys.stderr if code else sys.stdout)
    if chosen.log:
        with suppress(OSError, UserError):  # a full disk has no room for its own story either
            write_text(chosen.log, f"{name}: {said}\n")
    return code


def failures(graph: Graph) -> str:
    """The runs that failed and where to read more; empty when none did."""
    lines = []
    for unit in graph.family("train"):
        receipt = unit.load_receipt()
        for name, message in (receipt.failed if receipt else {}).items():
            lines.append(f"  {name}: {message} (outputs/logs/train/{unit.stamp.stem}.log)")
    return f"{len(lines)} runs are missing from it:\n" + "\n".join(lines) if lines else ""


def _unforeseen(error: Exception) -> str:
    return f"{type(error).__name__}: {error}\n{traceback.format_exc()}"


def build(graph: Graph, unit: Unit, params: Params, threads: int) -> str:
    """Bring a unit up to date and say what was done: `built` or `kept`."""
    inputs = graph.inputs(unit)
    if inputs is None:
        raise UserError(f"{unit.id} cannot be built before {', '.join(unit.needs)}.")
    key = graph.key(unit, inputs)
    receipt = unit.load_receipt()
    if receipt and receipt.key == key and not receipt.failed and not receipt.damage():
        write_text(unit.stamp, "")
        return "kept, its inputs came out the same"
    for name, expected in inputs.items():
        require(Path(name), expected)
    watch = provenance.Stopwatch()
    result = _run_stage(graph, unit, params, threads)
    outputs = {str(path): digest(path) for path in sorted(result.outputs)}
    sources = {name: digest(Path(name)) for name in unit.sources}
    record = {
        "unit": unit.id,
        "suite": params.suite,
        "key": key,
        "params": unit.params,
        "seeds": unit.params.get("seeds", []),
        "source_digest": digest_of(sources),
        "sources": sources,
        "inputs": inputs,
        "outputs": outputs,
        "notes": result.notes,
    }
    record |= provenance.surroundings(threads) | watch.reading()
    write_json(unit.provenance, record)
    write_receipt(unit.receipt, Receipt(key, outputs, result.failed))
    write_text(unit.stamp, "")
    return "built" + "".join(f"\n  {name}: {why}" for name, why in result.failed.items())


def _run_stage(graph: Graph, unit: Unit, params: Params, threads: int) -> Any:
    from sharc.workflow.recipes import RECIPES  # imports stages, hence torch: only when needed

    return RECIPES[unit.family](graph, unit, params, threads)


if __name__ == "__main__":
    sys.exit(main())
