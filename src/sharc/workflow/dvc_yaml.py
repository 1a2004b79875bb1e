"""dvc.yaml, generated from the graph: one stage per family, each asking Snakemake for it."""

from pathlib import Path
from typing import Any

import yaml

from sharc.registry import KINDS, module_of
from sharc.sources import source_files
from sharc.workflow.families import CLAIMS, FAMILIES, PAPER

PLACE = Path("dvc.yaml")
_HEAD = "# Generated from sharc.workflow.families by `sharc dvc-yaml`; do not edit by hand.\n"
# Every parameter a family may read, a superset of what its single units depend on.
_COMMON = ["suite", "suites", "datasets"]
_PARAMS = {
    "download": [],
    "split": ["data.class_order", "data.validation_share"],
    "features": ["features", "protocol", "protocols"],
    "streamed": ["features", "protocol", "protocols", "train"],
    "train": ["train", "methods", "sharc", "memories", "protocol", "protocols"],
    "figure1": ["figure1"],
    "rungs": ["train", "methods", "sharc", "memories", "protocol", "protocols"],
    "ladder": ["sharc", "protocol", "protocols"],
    "collect": ["train", "sharc"],
    "tables": ["sharc", "protocol", "features"],
    "figures": ["sharc", "protocol", "features"],
    "claims": ["sharc", "protocol", "features"],
    "report": ["sharc", "protocol", "features"],
}
_NEEDS = {
    "split": ["download"],
    "features": ["download"],
    "streamed": ["download", "split"],
    "train": ["split", "features", "streamed"],
    "figure1": ["download"],
    "rungs": ["split", "features", "streamed"],
    "ladder": ["rungs"],
    "collect": ["train"],
    "tables": ["collect"],
    "figures": ["collect", "figure1"],
    "claims": ["collect", "figure1"],
    "report": ["collect", "figure1", "tables", "figures", "claims", "ladder"],
}
_OUTS = {
    "download": ["data/raw"],
    "split": ["data/splits"],
    "features": ["outputs/features"],
    "streamed": ["outputs/streamed"],
    "train": ["outputs/runs"],
    "figure1": ["outputs/figure1"],
    "rungs": ["outputs/rungs"],
    "ladder": ["outputs/ladder"],
    "collect": ["outputs/results"],
    "tables": ["outputs/tables"],
    "figures": ["outputs/figures"],
    "claims": ["outputs/claims.json", "outputs/claims.md", "outputs/claims.receipt.json"],
    "report": ["outputs/report.html", "outputs/report.receipt.json"],
}
_KIND = {
    "download": ["dataset"],
    "features": ["backbone"],
    "streamed": ["backbone"],
    "train": ["method", "memory"],
    "rungs": ["method", "memory"],
}
_STAGES = {"streamed": ["features", "drift"], "rungs": ["train"]}  # where not one of its name
_FILES = {"ladder": PAPER, "tables": PAPER, "figures": PAPER, "claims": PAPER + CLAIMS}


def text() -> str:
    """The content dvc.yaml must have."""
    content = {
        "stages": {family: _stage(family) for family in FAMILIES},
        "metrics": ["outputs/results/metrics.json"],
        "plots": [
            {
                "learning curves": {
                    "x": "task",
                    "y": {"outputs/results/curves.csv": "accuracy"},
                    "title": "Accuracy over the tasks seen so far",
                }
            }
        ],
    }
    return _HEAD + yaml.safe_dump(content, sort_keys=False, width=100)


def _stage(family: str) -> dict[str, Any]:
    upstream = [out for need in _NEEDS.get(family, []) for out in _OUTS[need]]
    return {
        "cmd": [f"snakemake --cores all all_{family}", f"sharc settle {family}"],
        "deps": [*upstream, *family_sources(family)],
        "params": [*_COMMON, *_PARAMS[family]],
        "outs": [{out: {"persist": True}} for out in outs(family)],
    }


def outs(family: str) -> list[str]:
    """What DVC versions of a family: its artifacts with their receipts, and its provenance."""
    return [*_OUTS[family], f"outputs/provenance/{family}"]


def family_sources(family: str) -> list[str]:
    """The code and files in Git of every unit the family could have, under any parameters."""
    modules = [f"sharc.stages.{stage}" for stage in _STAGES.get(family, [family])]
    for kind in _KIND.get(family, []):
        modules += [module_of(kind, name) for name in KINDS[kind]]
    if family in {"train", "rungs"}:
        modules += ["sharc.buffers.sharc", "sharc.buffers.reference"]
    here = Path.cwd()
    code = [str(path.relative_to(here)) for path in source_files(modules)]
    return sorted({*code, *_FILES.get(family, ())})


def in_step() -> bool:
    """Whether the dvc.yaml on disk is what the graph says."""
    return PLACE.is_file() and PLACE.read_text(encoding="utf-8") == text()
