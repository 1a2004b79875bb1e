"""How large a gain a number of seeds can detect, and how verdicts move as seeds are added."""

from collections.abc import Mapping, Sequence
from functools import cache

from scipy.optimize import brentq
from statsmodels.stats.power import TTestPower

from sharc.results.statistics import FEWEST, estimate

POWER, ALPHA = 0.8, 0.05
MOST = 1000  # seeds beyond which a gain counts as out of reach


def detectable_gain(sd: float, seeds: int) -> float:
    """The gain that a paired t test at 5 % finds with 80 % probability, given the gains' sd.

    Not a number for fewer seeds than can decide a direction.
    """
    return _effect(seeds) * sd if seeds >= FEWEST else float("nan")


@cache
def _effect(seeds: int) -> float:
    """The same in standard deviations; statsmodels' own search fails at some numbers."""
    test = TTestPower()
    ends = 2 / seeds**0.5, 4 / seeds**0.5  # the power reaches 80 % between, from 5 seeds on
    return float(brentq(lambda d: test.power(d, seeds, ALPHA) - POWER, *ends))


def seeds_needed(sd: float, gain: float) -> int | None:
    """The fewest seeds, of those that can decide at all, that detect `gain`; None beyond 1,000."""
    low, high = FEWEST, MOST
    if detectable_gain(sd, high) >= abs(gain):  # equal if all gains are zero: nothing to detect
        return None
    while low < high:  # what can be detected shrinks with every seed
        middle = (low + high) // 2
        if detectable_gain(sd, middle) > abs(gain):
            low = middle + 1
        else:
            high = middle
    return low


def verdicts(gains: Mapping[int, float], counts: Sequence[int]) -> dict[int, str]:
    """The direction that the first n seeds decide, for each n there are seeds for."""
    ordered = [gains[seed] for seed in sorted(gains)]
    return {n: estimate(ordered[:n]).direction for n in counts if n <= len(ordered)}
