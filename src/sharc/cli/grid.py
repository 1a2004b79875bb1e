"""`sharc grid`: which jobs are cached, which would run, and why."""

import os
from collections.abc import Sequence

from sharc.cli.validate import without_effect
from sharc.config import load_params
from sharc.grid import cells
from sharc.pipeline import build_graph
from sharc.workflow.estimate import estimate
from sharc.workflow.freshness import states


def show_grid(suite: str | None, all_jobs: bool) -> None:
    """Per stage: how many jobs, how many are cached; then each job that would run, and why."""
    params = load_params(suite=suite)
    graph = build_graph(params)
    found = states(graph)
    print(
        f"Suite {params.suite}: {len(cells(params))} cells x {len(params.chosen.seeds)} seeds; a "
        "job of `train` trains a method\nwith one memory: all its thetas, buffers and seeds.\n"
    )
    rows = [("stage", "jobs", "cached", "to run")]
    for stage in dict.fromkeys(job.stage for job in graph.jobs.values()):
        jobs = graph.in_stage(stage)
        cached = sum(found[job.id].current for job in jobs)
        rows.append((stage, str(len(jobs)), str(cached), str(len(jobs) - cached)))
    _print(rows)
    shown = [(name, state) for name, state in found.items() if all_jobs or not state.current]
    if shown:
        print()
        _print(
            [
                ("job", "state", "why"),
                *((name, "cached" if s.current else "to run", s.why) for name, s in shown),
            ]
        )
    if expected := estimate(graph, found, os.cpu_count() or 1):
        print(f"\nBuilding it takes {expected.text()}.")
    if all(state.current for state in found.values()):
        print("\nEverything is current: there is nothing to build.")
    if overridden := without_effect(params):
        print("\n" + "\n".join(overridden))


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    """A table whose columns are as wide as their entries, however narrow the terminal is."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        print("  ".join(padded).rstrip())
