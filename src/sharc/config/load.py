"""Read params.yaml: plain YAML, every key known, the chosen suite's settings applied."""

import copy
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sharc.config.added import adopt_added
from sharc.config.explain import Mistake, explain, is_required, mistakes
from sharc.config.model import Params
from sharc.errors import UserError, unknown


class _PlainLoader(yaml.SafeLoader):
    """SafeLoader that also refuses a key written twice, where YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]  # type: ignore[no-untyped-call]
        for key in keys:
            if isinstance(key, (dict, list)) or keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key!r} (or not a plain name)", node.start_mark
                )
        return super().construct_mapping(node, deep)


def load_params(path: Path = Path("params.yaml"), suite: str | None = None) -> Params:
    """The checked content of `path`; `suite` overrides the file's own choice."""
    raw = _read(path)
    if suite is not None:
        raw["suite"] = suite
    settings = _chosen_settings(raw, path)
    resolved, name = copy.deepcopy(raw), str(raw.get("suite"))
    for key, value in settings.items():
        _assign(resolved, key, value, path, name)
    adopt_added(resolved, path)
    params, found = _checked(resolved)
    found = [(f"suites.{name}.set.{key}" if key in settings else key, said) for key, said in found]
    _, hidden = _checked(_with_overridden(resolved, raw, settings))
    found += [mistake for mistake in hidden if mistake[0] in settings]
    if params is None or found:
        raise UserError(explain(found, path))
    return params


def overridden(params: Params, path: Path = Path("params.yaml")) -> dict[str, tuple[Any, Any]]:
    """What the chosen suite sets in place of another value: its value, and the one in the file."""
    raw, settings = _read(path), params.chosen.set
    values = {key: (value, _value(raw, key)) for key, value in settings.items()}
    return {key: pair for key, pair in values.items() if pair[1] not in (pair[0], None)}


def _checked(content: dict[str, Any]) -> tuple[Params | None, list[Mistake]]:
    try:
        return Params.model_validate(content), []
    except ValidationError as error:
        return None, mistakes(error)


def _with_overridden(
    resolved: dict[str, Any], raw: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """The content with the values that the suite's settings hide: they must be legal too."""
    content = copy.deepcopy(resolved)
    for key in settings:
        *parents, last = str(key).split(".")
        block, value = _value(content, ".".join(parents)), _value(raw, key)
        if isinstance(block, dict) and last in block and value is not None:
            block[last] = value
    return content


def _value(content: Any, dotted: str) -> Any:
    """The value at a dotted key, or None."""
    for name in str(dotted).split("."):
        content = content.get(name) if isinstance(content, dict) else None
    return content


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _PlainLoader)
    except FileNotFoundError:
        raise UserError(
            f"{path} does not exist. Run the command in the project's root folder, "
            "or restore the file with `git checkout params.yaml`."
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path} is not readable as plain YAML: {error}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path} must hold keys and values, but holds {type(raw).__name__}.")
    return raw


def _chosen_settings(raw: dict[str, Any], path: Path) -> dict[str, Any]:
    suites = raw.get("suites")
    if not isinstance(suites, dict) or "suite" not in raw:
        return {}  # the model says what is missing
    if not isinstance(raw["suite"], str) or raw["suite"] not in suites:
        raise UserError(f"{path}: suite: {unknown('suite', raw['suite'], map(str, suites))}")
    chosen = suites[raw["suite"]]
    settings = chosen.get("set", {}) if isinstance(chosen, dict) else {}
    return settings if isinstance(settings, dict) else {}


def _assign(resolved: dict[str, Any], dotted: str, value: Any, path: Path, suite: str) -> None:
    """Put `value` at the dotted key; the last name may be new, the model judges it later."""
    *parents, last = str(dotted).split(".")
    block: Any = resolved
    for at, name in enumerate(parents or [last]):
        if (
            isinstance(block, dict)
            and name not in block
            and is_required([*parents, last][: at + 1])
        ):
            return  # misspelt or missing in the file itself: the model says so
        if not isinstance(block, dict) or name not in block:
            known = map(str, block) if isinstance(block, dict) else []
            raise UserError(f"{path}: suites.{suite}.set: {dotted}: {unknown('key', name, known)}")
        block = block[name] if parents else block
    if not isinstance(block, dict):
        raise UserError(f"{path}: suites.{suite}.set: {dotted}: {parents[-1]!r} is not a block.")
    block[last] = value
