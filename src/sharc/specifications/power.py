"""How large a gain a number of seeds can detect, and how verdicts move as seeds are added."""

from collections.abc import Mapping, Sequence

from statsmodels.stats.power import TTestPower

from sharc.results.statistics import FEWEST, estimate

POWER, ALPHA = 0.8, 0.05


def detectable_gain(sd: float, seeds: int) -> float:
    """The gain that a paired t test at 5 % finds with 80 % probability, given the gains' sd."""
    effect = TTestPower().solve_power(nobs=seeds, alpha=ALPHA, power=POWER, alternative="two-sided")
    return float(effect * sd)


def seeds_needed(sd: float, gain: float) -> int:
    """The fewest seeds, from those that can decide at all, at which `gain` is detectable."""
    seeds = FEWEST
    while detectable_gain(sd, seeds) > abs(gain):
        seeds = seeds + 1 if seeds < 100 else int(seeds * 1.1)
        if seeds > 10_000:
            break
    return seeds


def verdicts(gains: Mapping[int, float], counts: Sequence[int]) -> dict[int, str]:
    """The direction that the first n seeds decide, for each n there are seeds for."""
    ordered = [gains[seed] for seed in sorted(gains)]
    return {n: estimate(ordered[:n]).direction for n in counts if n <= len(ordered)}
