"""The tables of a suite: one line each."""

from collections.abc import Callable, Iterator

from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.tables import clser_heads, comparison, footprint, main
from sharc.tables.render import Table

Make = Callable[[Results, Layout, Paper | None], Iterator[Table]]
# Those that need no number of the paper: each is a section of the report, in this order.
OURS: tuple[Make, ...] = (footprint.tables, clser_heads.tables)
TABLES: tuple[Make, ...] = (main.tables, comparison.tables, *OURS)


def tables(
    results: Results, layout: Layout, paper: Paper | None = None, which: tuple[Make, ...] = TABLES
) -> list[Table]:
    """Every table that this suite has rows for."""
    return [table for make in which for table in make(results, layout, paper)]
