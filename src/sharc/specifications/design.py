"""Which specifications are run: each factor alone around the default, and a balanced sample.

In the sample each factor goes through its values in blocks, each a random order of all of them, so
after every block all of its values came up equally often. The i-th draw depends on the seed, the
factor and i alone: a larger sample begins with the smaller one. A combination that is not legal
is set aside and listed, and the next draw takes its place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sharc.errors import UserError
from sharc.randomness import derived_seed
from sharc.specifications.factors import Factor, Specification, Value, check_keys

Objection = Callable[[Specification], str | None]  # why a combination is not legal, if it is not
_TRIES = 20  # draws per wanted specification before the factors are taken to exclude each other


@dataclass(frozen=True)
class Design:
    """What is run, and what was set aside."""

    one_at_a_time: list[Specification]  # the default first
    sample: list[Specification]
    illegal: list[tuple[Specification, str]]

    @property
    def all(self) -> list[Specification]:
        """Each specification once, those that vary one factor first."""
        return list({spec.id: spec for spec in [*self.one_at_a_time, *self.sample]}.values())


def design(factors: Sequence[Factor], size: int, seed: int, objection: Objection) -> Design:
    """Both parts; a default that is not legal is the user's mistake."""
    check_keys(factors)
    default = Specification({factor.name: factor.default for factor in factors})
    if reason := objection(default):
        raise UserError(f"specifications: the default combination is not legal: {reason}")
    alone, illegal = _sorted_out(_around(default, factors), objection)
    sample, refused = _sample(factors, size, seed, objection)
    return Design(alone, sample, [*illegal, *refused])


def _around(default: Specification, factors: Sequence[Factor]) -> list[Specification]:
    """The default, then every other value of every factor with all else at its default."""
    others = [
        Specification({**default.choices, factor.name: value})
        for factor in factors
        for value in factor.values[1:]
    ]
    return [default, *others]


def _sorted_out(
    found: Sequence[Specification], objection: Objection
) -> tuple[list[Specification], list[tuple[Specification, str]]]:
    reasons = [(spec, objection(spec)) for spec in found]
    legal = [spec for spec, reason in reasons if reason is None]
    return legal, [(spec, reason) for spec, reason in reasons if reason is not None]


def _sample(
    factors: Sequence[Factor], size: int, seed: int, objection: Objection
) -> tuple[list[Specification], list[tuple[Specification, str]]]:
    """The first `size` draws that are legal and new, and the illegal ones among them."""
    legal: dict[str, Specification] = {}
    illegal: dict[str, tuple[Specification, str]] = {}
    for number in range(_TRIES * size):
        if len(legal) == size:
            break
        drawn = Specification({f.name: drawn_value(f, number, seed) for f in factors})
        if reason := objection(drawn):
            illegal.setdefault(drawn.id, (drawn, reason))
        else:
            legal.setdefault(drawn.id, drawn)
    if len(legal) < size:
        raise UserError(
            f"specifications.sample is {size}, but of {_TRIES * size} draws only {len(legal)} gave"
            " a new legal combination: lower it, or drop values that exclude each other."
        )
    return list(legal.values()), list(illegal.values())


def drawn_value(factor: Factor, number: int, seed: int) -> Value:
    """The value of the draw `number`: its position in a block that is a random order of all."""
    if factor.alone:
        return factor.default
    from numpy.random import default_rng  # not for a plan without specifications

    block, at = divmod(number, len(factor.values))
    rng = default_rng(derived_seed(seed, "specification", factor.name, block))
    return factor.values[int(rng.permutation(len(factor.values))[at])]
