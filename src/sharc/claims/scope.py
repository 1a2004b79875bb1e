"""What a verdict on the paper may rest on: its own methods, data sets and buffers, and no others.

A user's additions appear in tables and figures; a suite with more methods gives the same verdicts.
"""

from dataclasses import replace
from typing import Any

from sharc.looks import LOOKS
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import Layout


def of_the_paper(results: Results, layout: Layout) -> tuple[Results, Layout]:
    """Results and layout without anything that is not the paper's.

    A suite without any of the paper's data sets may rehearse the claims on Split-Digits, with
    buffers that fit it.
    """
    datasets = tuple(name for name in layout.datasets if name in labels.PAPER_COLUMN)
    main, appendix = (
        tuple(size for size in sizes if size in labels.PAPER_BUFFERS or not datasets)
        for sizes in (layout.main, layout.appendix)
    )
    if not datasets:
        datasets = tuple(name for name in layout.datasets if name == labels.REHEARSAL)
    methods = tuple(n for n in layout.methods if n in (*labels.NAIVE, *labels.REPLAY))
    narrow = replace(layout, datasets=datasets, methods=methods, main=main, appendix=appendix)
    only: dict[str, tuple[Any, ...]] = {"memory": tuple(LOOKS["memory"])}
    only |= {"dataset": datasets, "method": methods}
    if narrow.datasets[:1] != (labels.REHEARSAL,):
        only["buffer"] = (0, *narrow.buffers)
    return replace(results, only=only), narrow
