"""Turn a failed check of params.yaml into messages a person can act on."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sharc.config.model import Params
from sharc.options.base import complaint


def explain(error: ValidationError, path: Path, suite: str, settings: Mapping[str, Any]) -> str:
    """One line per mistake: file, key, bad value, what is legal; then what to do."""
    lines = []
    for item in error.errors():
        keys = [str(key) for key in item["loc"] if key != "[key]"]
        lines.append(
            f"  {_place(keys, suite, settings)}: {complaint(dict(item), _known_keys(keys[:-1]))}"
        )
    unique = list(dict.fromkeys(lines))
    return "\n".join([f"{path} is not valid:", *unique, f"Fix {path}, then run `sharc validate`."])


def _place(keys: list[str], suite: str, settings: Mapping[str, Any]) -> str:
    dotted = ".".join(keys)
    return f"suites.{suite}.set.{dotted}" if dotted in settings else dotted


def _known_keys(keys: list[str]) -> list[str]:
    """The field names of the block at `keys`, following lists, options and dictionaries."""
    model: Any = Params
    for key in keys:
        fields = getattr(model, "model_fields", None)
        if fields is None or key not in fields:
            continue  # the key of a dictionary: its value's model is in hand already
        model = _block_in(fields[key].annotation)
    return list(getattr(model, "model_fields", []))


def _block_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        if (found := _block_in(part)) is not None:
            return found
    return None
