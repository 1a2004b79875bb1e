"""The model of a suite of specifications: factors, the sample, and combinations not to run."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from sharc.config.base import Block, Theta
from sharc.options.base import Count, Positive

Value = str | int | float | bool
Question = Literal["gain", "saliency", "recall"]


def _every_question() -> list[Question]:
    return ["gain", "saliency", "recall"]


class FactorBlock(Block):
    """One choice: the parameter or axis of the grid it sets, its values, the default first."""

    key: str
    values: Annotated[list[Value], Field(min_length=2)]
    why: Annotated[str, Field(min_length=1)]
    alone: bool = False  # too expensive to combine with others: at its default in the sample


class Excluded(Block):
    """A combination that is legal but not run: each factor named has one of the values listed."""

    when: Annotated[dict[str, list[Value]], Field(min_length=2)]
    why: Annotated[str, Field(min_length=1)]

    @field_validator("when", mode="before")
    @classmethod
    def _a_value_alone_is_a_list_of_one(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: v if isinstance(v, list) else [v] for name, v in given.items()}


class SpecificationsBlock(Block):
    """One experiment under many defensible choices; `questions` name what is compared in each."""

    questions: Annotated[list[Question], Field(min_length=1, default_factory=_every_question)]
    sample: Count
    seed: Annotated[int, Field(ge=0)]
    train_images: Count | None
    test_images: Count | None
    factors: Annotated[dict[str, FactorBlock], Field(min_length=2)]
    excluded: list[Excluded] = Field(default_factory=list)


class Select(Block):
    """What `selected` chooses from, on held-out training images and never on test."""

    theta: list[Theta] = Field(default_factory=list)
    learning_rate: list[Positive] = Field(default_factory=list)
