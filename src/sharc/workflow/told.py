"""What the report tells about the making of a suite: facts, provenance and cost."""

from typing import Any

from sharc.artifacts.files import read_json
from sharc.config import Params
from sharc.workflow.units import Graph


def suite_facts(params: Params) -> dict[str, Any]:
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
        "memory of SHARC": params.sharc.memory,
        "share of channels dropped": f"Task-IL {theta.task_il:g}, Class-IL {theta.class_il:g}",
    }


def records(graph: Graph) -> dict[str, dict[str, Any]]:
    """The provenance of every unit that has been built, by id."""
    return {
        unit.id: read_json(path)
        for unit in graph.units.values()
        if (path := unit.provenance).is_file()
    }


def provenance(graph: Graph, params: Params) -> dict[str, Any]:
    """Commits, versions and the verified digests of the data."""
    made = records(graph)
    training = [record for name, record in made.items() if name.startswith(("train:", "rungs:"))]
    last = max(training, key=lambda record: record["started"], default={})
    return {
        "commit": ", ".join(sorted({str(record["commit"]) for record in training})),
        "uncommitted changes": "yes" if any(r["dirty"] for r in training) else "no",
        "versions": last.get("packages", {}),
        "processor": last.get("processor", ""),
        "device": last.get("device", ""),
        "data": {
            unit.name: _text(read_json(unit.folder / "meta.json"))
            for unit in graph.family("download")
            if (unit.folder / "meta.json").is_file()
        },
    }


def costs(graph: Graph) -> list[dict[str, Any]]:
    """Wall time, CPU time and peak memory per family, as measured when it was built."""
    made = records(graph)
    rows = []
    for family in dict.fromkeys(name.partition(":")[0] for name in made):
        members = [record for name, record in made.items() if name.startswith(f"{family}:")]
        rows.append(
            {
                "stage": family,
                "units": len(members),
                "seconds": round(sum(record["wall_seconds"] for record in members), 1),
                "cpu_hours": round(sum(record["cpu_seconds"] for record in members) / 3600, 4),
                "peak_mb": max(record["peak_memory_mb"] for record in members),
            }
        )
    return rows


def _text(facts: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in facts.items() if not isinstance(value, list)}
