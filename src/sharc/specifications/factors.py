"""A factor: the legal values of one parameter, the default first, with the reason for having it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sharc.artifacts.files import digest_of
from sharc.errors import UserError

Value = str | int | float | bool


@dataclass(frozen=True)
class Factor:
    """One choice that a specification makes; `key` is the parameter it sets."""

    name: str
    key: str
    values: tuple[Value, ...]
    why: str = ""
    alone: bool = False  # at its default in the random sample

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise UserError(
                f"specifications.factors.{self.name} has {len(self.values)} value: a choice needs "
                "at least two, the default first."
            )
        if len(set(map(repr, self.values))) < len(self.values):
            raise UserError(f"specifications.factors.{self.name} names a value twice.")

    @property
    def default(self) -> Value:
        """The value every specification of the one-at-a-time part keeps but one."""
        return self.values[0]


def check_keys(factors: Sequence[Factor]) -> None:
    """No two factors may set the same parameter: the later one would undo the earlier."""
    taken: dict[str, str] = {}
    for factor in factors:
        if factor.key in taken:
            raise UserError(
                f"specifications.factors: {taken[factor.key]} and {factor.name} both set "
                f"{factor.key}: join them into one factor."
            )
        taken[factor.key] = factor.name


@dataclass(frozen=True)
class Specification:
    """One value per factor, by the factor's name."""

    choices: Mapping[str, Value] = field(hash=False)

    @property
    def id(self) -> str:
        """Eight characters that the choices alone decide."""
        return digest_of(dict(sorted(self.choices.items())))[:8]

    def differing(self, factors: Sequence[Factor]) -> list[str]:
        """Names of the factors that are not at their default."""
        return [f.name for f in factors if self.choices[f.name] != f.default]

    def changed(self, **choices: Value) -> "Specification":
        """The same but for some choices."""
        return Specification({**self.choices, **choices})


def settings(specification: Specification, factors: Sequence[Factor]) -> dict[str, Any]:
    """The parameters it sets, by their keys."""
    return {factor.key: specification.choices[factor.name] for factor in factors}
