"""What changed since a job last ran, in words: parameters by their key, files by their name."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sharc.artifacts.files import read_json
from sharc.artifacts.receipts import Receipt
from sharc.errors import UserError
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job

_MOST = 3  # changes that are listed; of the others only the count
_LONGEST = 60  # characters of a value that is shown


def changes(graph: Graph, job: Job, inputs: dict[str, str], receipt: Receipt) -> str:
    """Why the job's key is not the one in its receipt."""
    record = _record(job, receipt)
    if record is None:
        return "its code, parameters or inputs changed"
    found = [
        *_settings(graph, job, record["params"]),
        *_files(record["sources"], graph.code(job), "is new", "is no longer used"),
        *_classes(job, record.get("classes", {})),
        *_files(record["inputs"], inputs, "is new", "is gone"),
    ]
    parts = job.cached_parts(lambda settings: graph.part_key(job, inputs, settings))
    if "missing" in parts and all("seeds" in change for change in found):
        return parts
    shown = "; ".join(found[:_MOST]) or "its code, parameters or inputs changed"
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return shown + more + (f" ({parts})" if parts else "")


def _record(job: Job, receipt: Receipt) -> dict[str, Any] | None:
    """The provenance of the existing files, if it belongs to the receipt."""
    try:
        record = read_json(job.provenance)
    except UserError:
        return None
    names = {"key", "params", "sources", "inputs"}
    known = isinstance(record, dict) and names <= record.keys() and record["key"] == receipt.key
    return record if known else None


def _settings(graph: Graph, job: Job, before: Any) -> Iterator[str]:
    old, new = dict(_leaves(before)), dict(_leaves(job.settings))
    known = dict(_leaves(graph.params.model_dump(), inner=True))
    for path in dict.fromkeys([*old, *new]):
        was, now = old.get(path), new.get(path)
        if was != now:
            name = _name(graph, job, path, known)
            values = f": {was} -> {now}"
            yield f"{name} changed{values if len(values) < _LONGEST else ''}"


def _leaves(value: Any, path: str = "", *, inner: bool = False) -> Iterator[tuple[str, Any]]:
    """Every value of nested mappings by its dotted name; with `inner`, the mappings as well."""
    if not isinstance(value, Mapping) or not value or inner:
        yield path, value
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _leaves(part, f"{path}.{name}" if path else str(name), inner=inner)


def _name(graph: Graph, job: Job, path: str, known: Mapping[str, Any]) -> str:
    """What a setting is called in params.yaml."""
    facts = vars(job) | {"suite": graph.params.suite}
    guesses = []
    for prefix in sorted(job.origins, key=len, reverse=True):
        if not prefix or path == prefix or path.startswith(f"{prefix}."):
            rest = path.removeprefix(prefix).lstrip(".")
            guesses.append(".".join(filter(None, [job.origins[prefix].format(**facts), rest])))
    leaf = path.rpartition(".")[2]
    guesses += [f"protocols.{graph.params.protocol}.{leaf}", f"train.{leaf}", f"suites.{path}"]
    return next((name for name in guesses if name in known), path)


def _files(before: Mapping[str, str], now: Mapping[str, str], new: str, gone: str) -> Iterator[str]:
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            how = new if name not in before else gone if name not in now else "changed"
            yield f"{Path(name)} {how}"


def _classes(job: Job, before: Mapping[str, str]) -> Iterator[str]:
    for name, target in job.found.items():
        if name in before and before[name] != target:
            yield f"{name} is now {target}, it was {before[name]}"
