"""Which series lie so far below the others that they would squeeze these on a shared axis."""

from collections.abc import Iterator, Mapping

Range = tuple[float, float]
FLAT = 2.0  # points: accuracies closer than this are the same to the eye, and meant to be
SQUEEZED = 2.0  # times the height the others need: beyond it, an axis is no longer shared


def union(ranges: Mapping[str, Range]) -> Range:
    """From the lowest low to the highest high."""
    lows, highs = zip(*ranges.values(), strict=True)
    return min(lows), max(highs)


def far_below(ranges: Mapping[str, Range]) -> list[str]:
    """The fewest lowest names without which the others need less than half the height."""
    for low, rest in _splits(ranges):
        (bottom, top), (start, end) = union(ranges), union(rest)
        if top - bottom > SQUEEZED * max(end - start, FLAT):
            return list(low)
    return []


def beyond_a_gap(ranges: Mapping[str, Range]) -> list[str]:
    """The fewest lowest names under an empty gap that is wider than what all others span."""
    for low, rest in _splits(ranges):
        start, end = union(rest)
        if start - union(low)[1] > max(end - start, FLAT):
            return list(low)
    return []


def _splits(ranges: Mapping[str, Range]) -> Iterator[tuple[dict[str, Range], dict[str, Range]]]:
    """The lowest and the rest, fewest first; the many are never set apart from the few."""
    order = sorted(ranges.items(), key=lambda item: item[1][0])
    for count in range(1, (len(order) + 1) // 2):
        yield dict(order[:count]), dict(order[count:])
