"""`sharc export`: a finished suite's small results, for Git and for readers who build nothing."""

import shutil
from pathlib import Path

from sharc.artifacts.files import write_json
from sharc.config import load_params
from sharc.errors import UserError
from sharc.workflow.families import build_graph
from sharc.workflow.freshness import states
from sharc.workflow.told import provenance, suite_facts

_PATTERNS = (
    "outputs/results/summary.csv",
    "outputs/tables/*.md",
    "outputs/tables/comparison.csv",
    "outputs/figures/*.png",
    "outputs/claims.*",
)
_LADDER = tuple(f"outputs/ladder/ladder.{ending}" for ending in ("csv", "md", "png"))
_LARGEST = 300_000  # bytes; Git is no place for more


def export_results(folder: Path, suite: str | None) -> None:
    """Copy tables, figures, claims and the summary, with what they were made from."""
    params = load_params(suite=suite)
    graph = build_graph(params)
    for name, state in states(graph).items():
        if not state.current:
            raise UserError(
                f"only a finished suite can be exported, and {name} is not current: {state.reason}."
                " Run `snakemake --cores 2 all` first."
            )
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    # Not every suite has a ladder, and another one's may still lie there.
    climbed = any(unit.folder == Path("outputs/ladder") for unit in graph.units.values())
    wanted = _PATTERNS + (_LADDER if climbed else ())
    for path in sorted(path for pattern in wanted for path in Path().glob(pattern)):
        if path.name != "claims.receipt.json" and path.stat().st_size <= _LARGEST:
            shutil.copyfile(path, folder / path.name)
    made = {"command": f"snakemake --cores 2 all --config suite={params.suite}"}
    write_json(folder / "made.json", made | suite_facts(params) | provenance(graph, params))
