"""What the specifications say, in sentences whose every number is computed."""

from sharc.results import labels
from sharc.results.labels import MINUS
from sharc.results.statistics import FEWEST
from sharc.specifications.arms import WHAT
from sharc.specifications.outcomes import Outcome, Questions, flips
from sharc.specifications.power import detectable_gain

_VERBS = {
    "gain": ("SHARC raises ACC", "lowers it"),
    "saliency": ("salient channels beat random ones", "lose to them"),
    "recall": ("recall beats zeros", "loses to them"),
}


def sentence(outcome: Outcome) -> str:
    """In how many specifications the answer is yes, no or open, and the median."""
    counts, total = outcome.curve.directions, len(outcome.curve.points)
    better, worse = _VERBS[outcome.contrast]
    text = (
        f"{labels.scenario(outcome.scenario)}: {better} in {counts['up']} of {total} "
        f"specifications, {worse} in {counts['down']}, and {counts['undecided']} do not decide; "
        f"the median is {signed(outcome.curve.median)} points."
    )
    if lost := len(outcome.curve.missing):
        text += f" {lost} are missing."
    return text


def flipped(questions: Questions, outcome: Outcome) -> str:
    """The choices that alone change what the default says; empty if none does."""
    found = flips(questions, outcome)
    if not found:
        return ""
    listed = "; ".join(f"{factor} {value}: {after}" for factor, value, after in found)
    what = WHAT[outcome.contrast]
    return f"{labels.scenario(outcome.scenario)}, {what}: alone, these choices change it: {listed}."


def power(outcome: Outcome) -> str:
    """What the number of seeds can detect in the middle specification."""
    points = [point.gain for point in outcome.curve.points if point.gain.n >= FEWEST]
    if not points:
        return ""
    spreads = sorted(gain.sd for gain in points)
    seeds = min(gain.n for gain in points)
    found = detectable_gain(spreads[len(spreads) // 2], seeds)
    return (
        f"{labels.scenario(outcome.scenario)}: {seeds} seeds detect a difference of {found:.1f} "
        f"points with 80 % probability in the specification of median spread "
        f"({WHAT[outcome.contrast]})."
    )


def signed(value: float) -> str:
    """With its sign, and a true minus."""
    return f"{value:+.1f}".replace("-", MINUS)
