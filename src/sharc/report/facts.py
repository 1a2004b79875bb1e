"""How a suite was made, for its report: provenance, cost, deviations from the paper."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc.artifacts.files import read_json

if TYPE_CHECKING:
    from sharc.config import Params
    from sharc.workflow.stage import Job

NO_COMMIT = "no commit"  # outside a repository, or before its first commit
PAUSE = 60.0  # seconds; Snakemake itself needs only a few between two jobs


def suite_facts(params: "Params") -> dict[str, Any]:
    """What was run, in words for a table of two columns."""
    suite = params.chosen
    theta = params.sharc.theta
    return {
        "suite": params.suite,
        "protocol": params.protocol,
        "data sets": ", ".join(suite.datasets),
        "backbone": f"{suite.backbone}, {params.features.image_size} px",
        "methods": ", ".join(suite.methods),
        "buffers": ", ".join(map(str, [*suite.buffers, *suite.appendix_buffers])),
        "seeds": ", ".join(map(str, suite.seeds)),
        "associative memory": params.sharc.memory,
        "share of channels dropped": f"Task-IL {theta.task_il:g}, Class-IL {theta.class_il:g}",
    }


def deviations(params: "Params") -> list[dict[str, str]]:
    """Where this suite departs from the paper's experiments."""
    suite, size = params.chosen, params.features.image_size
    mini = params.datasets.get("mini_imagenet")
    images = (mini and mini.train_per_class) or 500
    tried = max(suite.thetas.values) if suite.thetas else 1.0
    rows = [
        (
            params.protocol != "paper", "Protocol", "The text and the authors' code differ.",
            "What the authors' code does (protocol “reference”), even where a row below says that "
            "the text is followed.",
        ),
        (
            (suite.backbone, size) != ("resnet18", 224), "Backbone", "ResNet18, images of 224 px.",
            f"{suite.backbone}, images of {size} px: directions can be compared, levels cannot.",
        ),
        (
            params.switches.normalisation != "dataset", "Normalisation",
            "Not mentioned; the code uses the data set's mean and standard deviation.",
            "The constants the backbone was trained with.",
        ),
        (
            "mini_imagenet" in suite.datasets and images < 500, "Images of mini-ImageNet",
            "500 per class to train on.", f"{images} per class.",
        ),
        (
            tried < 1, "Range of θ", "0.1 to 1.0.",
            f"Up to {tried:g}: at 1 every training image would be held and recalled in each task.",
        ),
    ]  # fmt: skip
    names = ("topic", "paper", "here")
    return [dict(zip(names, row, strict=True)) for applies, *row in rows if applies]


def records(jobs: "Mapping[str, Job]") -> "dict[str, dict[str, Any]]":
    """The provenance of every job that has been built, by id."""
    return {
        name: read_json(job.provenance) for name, job in jobs.items() if job.provenance.is_file()
    }


def provenance(jobs: "Mapping[str, Job]") -> dict[str, Any]:
    """Commits, versions and the verified digests of the data."""
    made = records(jobs)
    training = [made[name] for name in made if jobs[name].stage in {"train", "rungs", "specified"}]
    last = max(training, key=lambda record: record["started"], default={})
    return {
        "commit": ", ".join(sorted({record["commit"] or NO_COMMIT for record in training})),
        "uncommitted changes": "yes" if any(r["dirty"] for r in training) else "no",
        "versions": last.get("packages", {}),
        "processor": last.get("processor", ""),
        "device": last.get("device", ""),
        "data": {
            job.name: data_facts(read_json(job.target))
            for job in jobs.values()
            if job.stage == "download" and job.target.is_file()
        },
    }


def commits(jobs: "Mapping[str, Job]") -> dict[str, str]:
    """Training job -> the commit that made it: a build may continue after a change of the code."""
    made = records(jobs)
    return {
        job.name: commit_of(made[name])
        for name, job in jobs.items()
        if job.stage == "train" and name in made
    }


def commit_of(record: Mapping[str, Any]) -> str:
    """The commit that a job was made from, and whether files had changed since."""
    changed = " with uncommitted changes" if record["dirty"] else ""
    return f"{record['commit'] or NO_COMMIT}{changed}"


def data_facts(meta: dict[str, Any]) -> dict[str, Any]:
    """What a reader needs to know about the images behind a number."""
    counts = {
        split: {"images": facts["items"], "digest": facts["digest"]}
        for split, facts in meta["splits"].items()
    }
    return {"classes": len(meta["classes"]), "side": meta["side"]} | counts


def costs(jobs: "Mapping[str, Job]") -> list[dict[str, Any]]:
    """Wall time, CPU time and peak memory per stage, as measured when it was built."""
    made = records(jobs)
    rows = []
    for stage in dict.fromkeys(jobs[name].stage for name in made):
        members = [record for name, record in made.items() if jobs[name].stage == stage]
        rows.append(
            {
                "stage": stage,
                "jobs": len(members),
                "seconds": round(sum(record["wall_seconds"] for record in members), 1),
                "cpu_hours": round(sum(record["cpu_seconds"] for record in members) / 3600, 4),
                "peak_mb": max(record["peak_memory_mb"] for record in members),
                "disk_mb": round(sum(_bytes(record) for record in members) / 1e6, 1),
            }
        )
    return rows


def _bytes(record: Mapping[str, Any]) -> int:
    """What a job's artifacts take on disk."""
    return sum(Path(name).stat().st_size for name in record["outputs"] if Path(name).is_file())


def duration(made: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How long the build took, and the share of the cores' time in which no job ran."""
    cores = max(record.get("cores") or os.cpu_count() or 1 for record in made)
    seconds = lasted([(record["started"], record["wall_seconds"]) for record in made])
    work = sum(record["wall_seconds"] * min(record["threads"], cores) for record in made)
    return {
        "minutes": round(seconds / 60, 1),
        "cores": cores,
        "percent_not_computing": round(100 * max(0.0, 1 - work / cores / seconds), 1),
    }


def lasted(times: Sequence[tuple[float, float]]) -> float:
    """Seconds that a build took, for the start and length of each job.

    Where nothing ran for longer than PAUSE, it had been stopped and was continued later.
    """
    total, until = 0.0, -math.inf
    for start, length in sorted(times):
        reached = start if start - until > PAUSE else until
        until = max(until, start + length)
        total += until - reached
    return total
