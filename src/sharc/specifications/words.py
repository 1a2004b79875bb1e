"""What the specifications say, in sentences whose every number is computed."""

from collections import Counter
from collections.abc import Mapping

from sharc.results import labels
from sharc.results.labels import listed
from sharc.results.statistics import FEWEST, estimate
from sharc.results.verdicts import UNDECIDED
from sharc.specifications.arms import MEMORY, SALIENCY, WHAT
from sharc.specifications.factors import Factor, Value
from sharc.specifications.outcomes import Outcome, Questions, flips
from sharc.specifications.power import detectable_gain, verdicts

_VERBS = {
    "gain": ("SHARC raises ACC", "lowers it"),
    "saliency": ("salient channels beat random ones", "lose to them"),
    "recall": ("recall beats zeros", "loses to them"),
}
_LABELS = {"dataset": labels.dataset, "method": labels.method, MEMORY: labels.memory}
_SALIENCY = {"abs_gt": "|α| > Q", "relu_ge": "max(α, 0) ≥ Q"}


def shown(factor: Factor, value: Value) -> str:
    """A value as tables and figures write it."""
    if factor.key == SALIENCY:
        return _SALIENCY.get(str(value), str(value))
    return _LABELS.get(factor.key, str)(str(value))


def spoken(factor: Factor, value: Value) -> str:
    """A choice within a sentence."""
    return f"{factor.name} {shown(factor, value)}"


def sentence(outcome: Outcome) -> str:
    """In how many specifications the answer is yes, no or open, and the median."""
    counts, total = outcome.curve.directions, len(outcome.curve.points)
    better, worse = _VERBS[outcome.contrast]
    text = (
        f"{labels.scenario(outcome.scenario)}: {better} in {counts['up']} of {total} "
        f"specifications, {worse} in {counts['down']}, and {counts['undecided']} do not decide; "
        f"the median is {points(outcome.curve.median)} points."
    )
    if 0 < (kept := len(outcome.kept.points)) < total:
        of_kept = outcome.kept.directions
        text += (
            f" Of the {kept} of the random sample that keep both of the paper's ideas, "
            f"{of_kept['up']} are up and {of_kept['down']} down; median "
            f"{points(outcome.kept.median)}."
        )
    if lost := len(outcome.curve.missing):
        text += f" {lost} {'is' if lost == 1 else 'are'} missing."
    return text


def flipped(questions: Questions, outcome: Outcome) -> str:
    """The choices that alone change what the default says; empty if none does."""
    directions = {p.specification.id: p.gain.direction for p in outcome.curve.points}
    if questions.default.id not in directions:
        return ""
    said = f"{_about(outcome)}: the default is {directions[questions.default.id]}"
    return f"{said}; {changed(questions, directions)}."


def changed(questions: Questions, said: Mapping[str, str]) -> str:
    """`alone, θ 0.8 would make it up; 3 others undecided`, for a word by specification."""
    by_word: dict[str, list[str]] = {}
    for factor, value, after in flips(questions, said):
        by_word.setdefault(after, []).append(spoken(factor, value))
    lost = len(by_word.pop(UNDECIDED, []))
    named = [f"{listed(names)} would make it {word}" for word, names in by_word.items()]
    if lost:
        named.append(f"{lost} {'other ' * bool(named)}choice{'s' * (lost > 1)} would leave it open")
    return f"alone, {'; '.join(named)}" if named else "no single choice changes that"


def power(outcome: Outcome) -> str:
    """What the fewest seeds of any specification can detect, over the specifications' spreads."""
    gains = [point.gain for point in outcome.curve.points if point.gain.n >= FEWEST]
    if not gains:
        return ""
    seeds = min(gain.n for gain in gains)
    found = sorted(detectable_gain(gain.sd, seeds) for gain in gains)
    return (
        f"{_about(outcome)}: with 80 % probability "
        f"{seeds} seeds detect {found[len(found) // 2]:.1f} points in the specification of median "
        f"spread, {found[0]:.1f} to {found[-1]:.1f} over all."
    )


def moves(outcome: Outcome, few: int, many: int) -> str:
    """How directions change when seeds are added; empty where no specification has so many."""
    found = [verdicts(gains, (few, many)) for gains in outcome.gains.values()]
    pairs = [(each[few], each[many]) for each in found if len(each) == 2]
    if not pairs:
        return ""
    moved = Counter(f"{before} to {after}" for before, after in pairs if before != after)
    ways = ", ".join(f"{count} from {way}" for way, count in sorted(moved.items()))
    return (
        f"{_about(outcome)}: from {few} to {many} seeds "
        f"{sum(moved.values())} of {len(pairs)} directions change{f' ({ways})' if ways else ''}; "
        f"{sum(after != 'undecided' for _, after in pairs)} are then decided."
    )


def blocks(outcome: Outcome, size: int) -> str:
    """How often blocks of `size` seeds say what all seeds say; empty for a single block."""
    agree = contradict = total = 0
    for gains in outcome.gains.values():
        seeds = sorted(gains)
        if len(seeds) < 2 * size:
            continue
        whole = estimate(list(gains.values())).direction
        for start in range(0, len(seeds) - size + 1, size):
            part = estimate([gains[seed] for seed in seeds[start : start + size]]).direction
            total += 1
            agree += part == whole
            contradict += {part, whole} == {"up", "down"}
    if not total:
        return ""
    return (
        f"{_about(outcome)}: of {total} blocks of {size} seeds "
        f"{agree} say what all seeds say and {contradict} the opposite."
    )


def _about(outcome: Outcome) -> str:
    return f"{labels.scenario(outcome.scenario)}, {WHAT[outcome.contrast]}"


def points(value: float) -> str:
    """With its sign, and a true minus."""
    return labels.signed(value, 1)
