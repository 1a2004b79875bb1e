"""Turn a failed check of params.yaml into messages a person can act on."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sharc.config.model import Params
from sharc.options.base import complaint

Mistake = tuple[str, str]  # a key with dots, and what is wrong there: the bad value, what is legal


def mistakes(error: ValidationError) -> list[Mistake]:
    """What one of pydantic's errors says, in words."""
    found = []
    for item in error.errors():
        keys = [str(key) for key in item["loc"] if key != "[key]"]
        found.append((".".join(keys), _said(dict(item), _known_keys(keys[:-1]))))
    return found


def explain(found: Iterable[Mistake], path: Path) -> str:
    """One line per mistake, then what to do."""
    lines = dict.fromkeys(f"  {key}: {said}" for key, said in found)
    return "\n".join([f"{path} is not valid:", *lines, f"Fix {path}, then run `sharc validate`."])


def _said(item: Mapping[str, Any], known: list[str]) -> str:
    if item["type"] == "list_type" and not isinstance(item["input"], dict):
        given = item["input"]
        example = f"[{given}]" if isinstance(given, str) else "[0, 1, 2]"
        return f"Input should be a valid list, for example {example} (got {given!r})"
    return complaint(item, known)


def is_required(keys: Sequence[str]) -> bool:
    """Whether the model asks for the key at `keys`, so that it says where one is missing."""
    fields = getattr(_model_at(keys[:-1]), "model_fields", {})
    return keys[-1] in fields and fields[keys[-1]].is_required()


def _known_keys(keys: Sequence[str]) -> list[str]:
    """The field names of the block at `keys`."""
    return list(getattr(_model_at(keys), "model_fields", []))


def _model_at(keys: Sequence[str]) -> Any:
    """The model of the block at `keys`, following lists, options and dictionaries."""
    model: Any = Params
    for key in keys:
        fields = getattr(model, "model_fields", None)
        if fields is None or key not in fields:
            continue  # the key of a dictionary: its value's model is in hand already
        model = _block_in(fields[key].annotation)
    return model


def _block_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        if (found := _block_in(part)) is not None:
            return found
    return None
