"""Words for directions and claims; one spelling for tables, figures and report."""

import math
from collections import Counter
from collections.abc import Iterable

from sharc.results import labels
from sharc.results.statistics import Estimate

IMPROVES, WORSENS, UNDECIDED = "improves", "worsens", "undecided"
REPRODUCED, NOT_REPRODUCED, NOT_TESTED = "reproduced", "not reproduced", "not tested by this suite"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_TESTED)
# A claim that one number exceeds another, by where the interval of their difference lies.
BY_DIRECTION = {"up": REPRODUCED, "down": NOT_REPRODUCED, "undecided": UNDECIDED}
ARROWS = {
    IMPROVES: "\N{UPWARDS ARROW}",
    WORSENS: "\N{DOWNWARDS ARROW}",
    UNDECIDED: "\N{ALMOST EQUAL TO}",
}


def direction(gain: Estimate | None) -> str:
    """The "+" against its base, decided only if the paired interval excludes zero."""
    if gain is None or gain.n == 0:
        return ""
    return {"up": IMPROVES, "down": WORSENS, "undecided": UNDECIDED}[gain.direction]


def printed_direction(gain: Estimate | None) -> str:
    """The direction the paper's printed means show, whatever their spread."""
    if gain is None:
        return ""
    if gain.mean == 0:
        return UNDECIDED
    return IMPROVES if gain.mean > 0 else WORSENS


def agreement(ours: str, paper: str) -> str:
    """Does our decided direction match the printed one?"""
    if not ours or not paper:
        return ""
    if UNDECIDED in (ours, paper):
        return UNDECIDED
    return "agrees" if ours == paper else "contradicts"


def tally(verdicts: Iterable[str]) -> str:
    """`12 improve, 1 worsen, 5 undecided`; other words do not count."""
    said = {IMPROVES: "improve", WORSENS: "worsen", UNDECIDED: "undecided"}
    found = Counter(verdicts)
    return ", ".join(f"{found[word]} {short}" for word, short in said.items())


def interval(mean: float, low: float, high: float, unit: str = "") -> str:
    """`+1.20 points [+0.40, +2.10]`; without an interval the mean alone, without a mean a dash."""
    if math.isnan(mean):
        return "-"
    text = f"{labels.signed(mean)} {unit}".rstrip()
    if math.isnan(low):
        return text
    return f"{text} [{labels.signed(low)}, {labels.signed(high)}]"
