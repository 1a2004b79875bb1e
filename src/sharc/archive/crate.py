"""A finished suite as a Workflow Run RO-Crate (profile 0.5): code, parameters, data, results.

The crate is a folder that works: unpacked elsewhere, `snakemake -n` finds nothing to do, and a
deleted artifact is built again. Its metadata record, for every job, what it read, what it made,
when, and from which code.
"""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from rocrate.model import ContextEntity  # type: ignore[import-untyped]
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from sharc.artifacts.files import read_json, write_atomically
from sharc.artifacts.runs import key_file
from sharc.config import Params
from sharc.errors import UserError
from sharc.pipeline import load_graph
from sharc.workflow.freshness import states
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_FORMATS = {
    **{".json": "application/json", ".yaml": "application/yaml", ".csv": "text/csv"},
    **{".html": "text/html", ".md": "text/markdown", ".py": "text/x-python"},
    **{".png": "image/png", ".svg": "image/svg+xml", ".pdf": "application/pdf"},
}


def write_crate(out: Path, suite: str | None = None) -> None:
    """Write the finished suite to the folder `out`, or to one file if `out` ends in .zip."""
    if out.exists():
        raise UserError(f"{out} already exists: name a new file or folder.")
    graph = load_graph(suite)
    _require_finished(graph)
    crate = _described(graph)
    if out.suffix == ".zip":
        with write_atomically(out) as partial:
            crate.write_zip(partial)
    else:
        partial = out.with_name(f"{out.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        crate.write(partial)
        partial.rename(out)


def _require_finished(graph: Graph) -> None:
    for name, state in states(graph).items():
        if not state.current:
            raise UserError(
                f"only a finished suite can be archived, and {name} is not current: "
                f"{state.why}. Run `snakemake --cores 2 all` first."
            )


def _described(graph: Graph) -> Any:
    crate = ROCrate(gen_preview=False, version="1.1")
    crate.add_workflow("Snakefile", "Snakefile", main=True, lang="snakemake")
    crate.mainEntity["name"] = "SHARC reproduction pipeline"
    made = {path for job in graph.jobs.values() for path in _files_of(job)}
    stages = {_stage(job) for job in graph.jobs.values()}
    for path in sorted((_in_git() | made) - {"Snakefile"}):
        facts: dict[str, Any] = {"name": Path(path).name}
        if known := _FORMATS.get(Path(path).suffix):
            facts["encodingFormat"] = known
        if path in stages:
            facts["@type"] = ["File", "SoftwareSourceCode"]
        crate.add_file(path, path, properties=facts)
    _describe_root(crate, graph.params)
    records = {job.id: read_json(job.provenance) for job in graph.jobs.values()}
    for job in graph.jobs.values():
        _add_action(crate, job, records[job.id])
    _add_run(crate, graph, list(records.values()))
    return crate


def _stage(job: Job) -> str:
    """The file that declares the stage of a job."""
    return f"src/{type(job).__module__.replace('.', '/')}.py"


def _files_of(job: Job) -> set[str]:
    receipt = job.load_receipt()
    outputs = set(receipt.outputs) if receipt else set()
    keys = {str(key) for name in outputs if (key := key_file(Path(name))).is_file()}
    return outputs | keys | {str(job.receipt), str(job.provenance)}


def _in_git() -> set[str]:
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(
            "the list of the project's files comes from Git, and this folder is not a repository: "
            "archive from a clone."
        )
    return {name for name in done.stdout.splitlines() if Path(name).is_file()}


def _describe_root(crate: Any, params: Params) -> None:
    about = yaml.safe_load(Path("CITATION.cff").read_text(encoding="utf-8"))
    licence = f"https://spdx.org/licenses/{about['license']}"
    crate.add(ContextEntity(crate, licence, {"@type": "CreativeWork", "name": about["license"]}))
    root = crate.root_dataset
    root["name"] = f"{about['title']} (suite {params.suite})"
    root["description"] = (
        f"Code, parameters, data, features, runs, results and report of the suite {params.suite}. "
        "Unpack, install requirements.lock, and run `snakemake --cores 2 all`: everything is "
        "up to date until you change or delete something."
    )
    root["license"] = crate.mainEntity["license"] = {"@id": licence}
    for address, name in _PROFILES.items():
        crate.add(ContextEntity(crate, address, {"@type": "CreativeWork", "name": name}))
    root["conformsTo"] = [{"@id": address} for address in _PROFILES]


def _add_action(crate: Any, job: Job, record: dict[str, Any]) -> None:
    """How one job ran: which code turned which files into which."""
    facts = {
        "@type": "CreateAction",
        "name": job.id,
        "description": f"{record['wall_seconds']} s, {record['cpu_seconds']} CPU s, "
        f"{record['peak_memory_mb']} MB on {record['processor']}, {record['device']}",
        "instrument": {"@id": _stage(job)},
        "object": _known(crate, [*record["inputs"], "params.yaml"]),
        "result": _known(crate, [*record["outputs"], str(job.provenance)]),
        "startTime": _time(record["started"]),
        "endTime": _time(record["started"] + record["wall_seconds"]),
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
    }
    crate.root_dataset.append_to("mentions", crate.add(ContextEntity(crate, f"#{job.id}", facts)))


def _add_run(crate: Any, graph: Graph, records: list[dict[str, Any]]) -> None:
    """The whole run, from parameters and raw data to the report."""
    raw = [name for job in graph.in_stage("download") for name in sorted(_files_of(job))]
    made = [
        name
        for stage in ("collect", "tables", "figures", "claims", "report")
        for job in graph.in_stage(stage)
        for name in sorted(_files_of(job))
    ]
    facts = {
        "@type": "CreateAction",
        "name": f"snakemake --cores 2 all --config suite={graph.params.suite}",
        "instrument": {"@id": "Snakefile"},
        "object": _known(crate, ["params.yaml", *raw]),
        "result": _known(crate, made),
        "startTime": _time(min(record["started"] for record in records)),
        "endTime": _time(max(r["started"] + r["wall_seconds"] for r in records)),
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
    }
    crate.root_dataset.append_to("mentions", crate.add(ContextEntity(crate, "#run", facts)))


def _known(crate: Any, names: list[str]) -> list[dict[str, str]]:
    return [{"@id": name} for name in names if crate.dereference(name)]


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
