"""What the pipeline adds to the computing: in a copy of the project with a small suite.

The copy is built once, which also gives every stage's peak memory from its provenance; then doing
nothing is timed with Snakemake and with DVC.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench import graph_cost
from bench.machine import ROOT
from bench.section import Section, Size
from bench.timing import Measure, interleaved

SUITES = ("demo", "offline")  # with a promise about their time
JOBS = 1000


def run(size: Size) -> Section:
    """Overheads, and peak memory per stage."""
    sys.path.insert(0, str(ROOT / "tests/workflow"))
    from project import clone  # type: ignore[import-not-found]

    section = Section()
    with tempfile.TemporaryDirectory() as folder:
        project = clone(Path(folder) / "sharc", methods=("er",))
        project.set(sharc__memory="bayes_pcn")
        commands = {
            "snakemake": ("snakemake", "--cores", "1", "all"),
            "dvc_repro": ("dvc", "repro"),
            "validate": ("sharc", "validate"),
        }
        ways = {name: partial(project.run, *words) for name, words in commands.items()}
        first = interleaved({"build": ways["snakemake"]}, 1, warm_up=False)["build"]
        project.commit("built")
        made = list(provenance(project.folder))
        for name, times in (idle := interleaved(ways, size.rounds)).items():
            section.measures[f"nothing_{name}_seconds"] = Measure.of(*times)
    work = sum(one["cpu_seconds"] for one in made)
    per_job = (first[0] - work - statistics.median(idle["snakemake"])) / len(made)
    section.measures["cpu_seconds_per_job"] = Measure.of(per_job)
    features = (one for one in made if one["job"].startswith("features:"))
    section.measures["peak_mb_features"] = Measure.of(
        max(one["peak_memory_mb"] for one in features)
    )
    section.measures["graph_seconds"] = Measure.of(graph_cost.measure(JOBS, fresh=True)[0].cpu)
    for suite in SUITES:
        found = json.loads((ROOT / f"results/{suite}/made.json").read_text())["duration"]
        section.measures[f"{suite}_minutes"] = Measure.of(found["minutes"])
        section.notes.append(
            f"Suite {suite}, as results/{suite}/made.json says: {found['minutes']:.1f} minutes "
            f"from its first to its last job on {found['cores']} cores, of which "
            f"{found['percent_not_computing']:.1f} % was not computing; its machine may be another."
        )
    return section


def provenance(root: Path) -> Iterator[dict[str, Any]]:
    """What the provenance says of each job that was built under `root`."""
    for path in sorted((root / "outputs/provenance").rglob("*.json")):
        content = json.loads(path.read_text())
        if "wall_seconds" in content:
            yield content
