"""The listings that need no number of the paper: what is held, and CLS-ER's heads."""

from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.tables import clser_heads, footprint_text
from sharc.tables.footprint import ledger
from sharc.tables.long_table import Listing


def listings(results: Results, layout: Layout) -> list[Listing]:
    """Those that this suite has rows for."""
    found = (
        footprint_text.listing(ledger(results, layout)),
        clser_heads.listing(results, layout),
    )
    return [one for one in found if one is not None]
