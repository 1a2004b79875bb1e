"""Read params.yaml: plain YAML, every key known, the chosen suite's settings applied."""

import copy
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from sharc.config.added import adopt_added
from sharc.config.explain import explain
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
    try:
        return Params.model_validate(resolved)
    except ValidationError as error:
        raise UserError(explain(error, path, name, settings)) from None


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
    for name in parents or [last]:
        if not isinstance(block, dict) or name not in block:
            known = map(str, block) if isinstance(block, dict) else []
            raise UserError(f"{path}: suites.{suite}.set: {dotted}: {unknown('key', name, known)}")
        block = block[name] if parents else block
    if not isinstance(block, dict):
        raise UserError(f"{path}: suites.{suite}.set: {dotted}: {parents[-1]!r} is not a block.")
    block[last] = value
