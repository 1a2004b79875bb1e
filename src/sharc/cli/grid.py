"""`sharc grid`: the graph as a table, before anything runs."""

from rich.console import Console
from rich.table import Table

from sharc.config import load_params
from sharc.grid import cells
from sharc.workflow.families import FAMILIES, build_graph
from sharc.workflow.freshness import states


def show_grid(suite: str | None, all_units: bool) -> None:
    """Per family: how many units, how many are cached; then each unit to be built, and why."""
    params = load_params(suite=suite)
    graph = build_graph(params)
    found = states(graph)
    console = Console()
    console.print(
        f"Suite [bold]{params.suite}[/]: {len(cells(params))} cells x "
        f"{len(params.chosen.seeds)} seeds; a unit of `train` trains a method with one kind of "
        "memory: all its thetas, buffers and seeds."
    )
    overview = Table("family", "units", "cached", "to build")
    for family in FAMILIES:
        units = graph.family(family)
        cached = sum(found[unit.id].current for unit in units)
        overview.add_row(family, str(len(units)), str(cached), str(len(units) - cached))
    console.print(overview)
    details = Table("unit", "state", "why")
    for name, state in found.items():
        if all_units or not state.current:
            details.add_row(name, "cached" if state.current else "to build", state.reason)
    if details.row_count:
        console.print(details)
    else:
        console.print("Everything is current: there is nothing to build.")
