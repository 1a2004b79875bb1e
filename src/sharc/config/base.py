"""The kinds of values that params.yaml is made of."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sharc.registry import BACKBONES, DATASETS, MEMORIES, METHODS

Share = Annotated[float, Field(ge=0, lt=1)]
Theta = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Device = Literal["auto", "cpu", "cuda"]
if TYPE_CHECKING:  # a type checker cannot follow names that come from the registries
    DatasetName = str
    BackboneName = str
    MethodName = str
    MemoryName = str
else:
    DatasetName = Literal[tuple(DATASETS)]
    BackboneName = Literal[tuple(BACKBONES)]
    MethodName = Literal[tuple(METHODS)]
    MemoryName = Literal[tuple(MEMORIES)]
SourceName = Literal["bundled", "official", "folder", "mirror", "npm"]


class Block(BaseModel):
    """A part of params.yaml: no unknown keys, no silent conversions, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())
