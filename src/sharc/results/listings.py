"""The listings that need no number of the paper: what is held, and CLS-ER's heads."""

from sharc.results import clser_heads, ledger_markup
from sharc.results.frames import Results
from sharc.results.layout import Layout
from sharc.results.ledger import ledger
from sharc.results.listing import Listing


def listings(results: Results, layout: Layout) -> list[Listing]:
    """Those that this suite has rows for."""
    found = (
        ledger_markup.listing(ledger(results, layout)),
        clser_heads.listing(results, layout),
    )
    return [one for one in found if one is not None]
