"""What every kind of options shares: types, the base class, and messages for wrong values."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from sharc.errors import UserError, unknown

Share = Annotated[float, Field(ge=0, lt=1)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
NOT_REGISTERED = "not_registered"  # pydantic's type of error for an unregistered name


class Switch(NamedTuple):
    """Marks an option that a switch of the protocol sets, so params.yaml sets it nowhere else."""

    name: str


class NoOptions(BaseModel):
    """Nothing to set; the base of all options. Unknown keys and silent conversions are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    def __getitem__(self, name: str) -> Any:
        """An option by name, for classes that declare `defaults` instead of a model."""
        return getattr(self, name)


def switches(model: type[NoOptions]) -> dict[str, str]:
    """The options that the protocol sets, each with its switch."""
    marks = {name: field.metadata for name, field in model.model_fields.items()}
    return {name: m.name for name, found in marks.items() for m in found if isinstance(m, Switch)}


Model = TypeVar("Model", bound=NoOptions)


def extended(base: type[Model], name: str, defaults: Mapping[str, Any]) -> type[Model]:
    """A model with further options, of the types of their defaults."""
    fields: dict[str, Any] = {option: (type(value), value) for option, value in defaults.items()}
    return create_model(name, __base__=base, **fields)


def parsed(model: type[Model], values: Mapping[str, Any], owner: str) -> Model:
    """The values as a model; every mistake is named with what is legal."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        lines = []
        for item in error.errors():
            where = ": ".join([owner, *map(str, item["loc"])])
            lines.append(f"{where}: {complaint(dict(item), model.model_fields)}")
        raise UserError("\n".join(lines)) from None


def complaint(item: Mapping[str, Any], known_keys: Iterable[str]) -> str:
    """What one of pydantic's errors means: the bad value and what is legal."""
    if item["type"] == "extra_forbidden":
        return unknown("key", str(item["loc"][-1]), known_keys)
    if item["type"] == "missing":
        return "this key is missing"
    if item["type"] == "literal_error":
        expected = str(item["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        return unknown("value", item["input"], (name.strip("'") for name in expected))
    if item["type"] == NOT_REGISTERED:
        return str(item["msg"])
    message = str(item["msg"]).removeprefix("Value error, ")
    return message if isinstance(item["input"], dict) else f"{message} (got {item['input']!r})"


class HasOptions:
    """A class with options: a model of its own, or plain `defaults` such as {"alpha": 0.5}."""

    Options: ClassVar[type[Any]] = NoOptions  # what params.yaml can set

    def __init_subclass__(cls) -> None:
        """Turn `defaults` into a model that has them besides what the base has."""
        super().__init_subclass__()
        if defaults := vars(cls).get("defaults"):
            cls.Options = extended(cls.Options, f"{cls.__name__}Options", defaults)
