"""The changes as dots with intervals: one row per cell that moved, B minus A."""

import pandas as pd

from sharc.compare.cells import labels_of, ordered
from sharc.figures.style import Drawing, panels, styled

_COLOURS = {"rises": "#0072B2", "falls": "#D55E00", "undecided": "#777777"}
_MOST = 40  # cells that one page can hold


def draw(frame: pd.DataFrame, names: tuple[str, str]) -> Drawing:
    """The cells that moved most, decided ones on top."""
    moved = ordered(frame)
    shown = moved.head(_MOST)
    with styled():
        figure, axes = panels(1, 1, (6.4, 0.9 + 0.2 * max(len(shown), 2)))
        panel = axes[0, 0]
        for height, row in enumerate(shown.to_dict("records")):
            colour = _COLOURS[row["acc_move"]]
            panel.plot([row["acc_low"], row["acc_high"]], [height] * 2, color=colour, lw=1.4)
            panel.plot(row["acc_change"], height, marker="o", color=colour)
        panel.axvline(0, color="#000000", lw=0.9)
        panel.set_yticks(range(len(shown)), list(labels_of(shown)), fontsize=7)
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.set_xlabel(f"ACC of {names[1]} minus ACC of {names[0]} (points)")
    left = len(moved) - len(shown)
    caption = (
        f"Change in average accuracy from {names[0]} to {names[1]}, paired by seed; bars: 95 % "
        "bootstrap interval over seeds, coloured where it excludes zero."
        + (f" {left} smaller changes are not drawn." if left else "")
    )
    return Drawing("compare", "What moved", caption, figure, frame)
