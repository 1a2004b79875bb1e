"""The kinds of values that params.yaml is made of."""

from typing import Annotated, Literal

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from sharc.errors import unknown
from sharc.options.base import NOT_REGISTERED, Fraction, NoOptions
from sharc.registry import names, replays

Theta = Fraction
Device = Literal["auto", "cpu", "cuda"]


def _registered(kind: str) -> AfterValidator:
    """Ours, or added by params.yaml itself: asked when a value is checked, not on import."""

    def check(name: str) -> str:
        if name not in names(kind):
            message = unknown("value", name, names(kind)).replace("{", "{{").replace("}", "}}")
            raise PydanticCustomError(NOT_REGISTERED, message)  # type: ignore[arg-type]
        return name

    return AfterValidator(check)


def _replaying(method: str) -> str:
    if not replays(method):
        raise ValueError("replays nothing, so there is no form with SHARC to compare")
    return method


DatasetName = Annotated[str, _registered("dataset")]
BackboneName = Annotated[str, _registered("backbone")]
MethodName = Annotated[str, _registered("method")]
ReplayingMethod = Annotated[MethodName, AfterValidator(_replaying)]
MemoryName = Annotated[str, _registered("memory")]
SourceName = Literal["bundled", "official", "folder", "mirror", "npm"]


class Block(NoOptions):
    """A part of params.yaml: no unknown keys, no silent conversions, no changes afterwards."""
