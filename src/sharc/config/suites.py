"""A suite: what `all` builds."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from sharc.config.base import (
    BackboneName,
    Block,
    DatasetName,
    MemoryName,
    MethodName,
    ReplayingMethod,
    SourceName,
    Theta,
)
from sharc.config.specifications import Select, SpecificationsBlock
from sharc.options.base import Count


class Varied(Block):
    """The buffer and the methods on which a figure varies one thing."""

    buffer: Count
    methods: list[ReplayingMethod]


class MemoryComparison(Block):
    """The figure that compares associative memories: each method in one scenario, at its theta."""

    dataset: DatasetName
    buffer: Count
    methods: dict[ReplayingMethod, Literal["task_il", "class_il"]]
    names: list[MemoryName]


class ThetaComparison(Varied):
    """The figure that varies the share of dropped channels."""

    dataset: DatasetName
    values: list[Theta]


class Ladder(Varied):
    """From the reference preset to the paper's, one switch at a time."""

    datasets: list[DatasetName]
    theta: Theta
    train_images: Count | None
    test_images: Count | None


class Suite(Block):
    """What `all` builds."""

    sources: Annotated[list[SourceName], Field(min_length=1)]
    datasets: Annotated[list[DatasetName], Field(min_length=1)]
    backbone: BackboneName
    methods: Annotated[list[MethodName], Field(min_length=1)]
    buffers: Annotated[list[Count], Field(min_length=1)]
    appendix_buffers: list[Count] = Field(default_factory=list)
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
    memories: MemoryComparison | None = None
    thetas: ThetaComparison | None = None
    figure1: DatasetName | None = None
    ladder: Ladder | None = None
    specifications: SpecificationsBlock | None = None
    select: Select | None = None
    set: dict[str, float | int | str | bool] = Field(default_factory=dict)

    @field_validator("datasets", "methods", "buffers", "appendix_buffers", "seeds")
    @classmethod
    def _no_repeats(cls, values: list[object]) -> list[object]:
        if len(set(values)) < len(values):
            raise ValueError("names an entry twice; list each once")
        return values

    @model_validator(mode="after")
    def _selects_for_a_factor(self) -> Self:
        if self.select and not self.specifications:
            raise ValueError(
                "select is read by the factors of `specifications` that have the value `selected`;"
                " this suite has no such block"
            )
        return self
