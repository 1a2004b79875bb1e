"""A suite's backbone: ours, a class of the user's, or a library's with a weight file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc.artifacts.files import sha256_of
from sharc.config import Params
from sharc.errors import UserError
from sharc.registry import load

if TYPE_CHECKING:
    from sharc.backbones.base import Backbone

ADDED = "added"  # the setting that holds an added backbone's architecture and weights


def added_settings(params: Params) -> dict[str, Any]:
    """What features depend on besides a class: the architecture, and the weights' content."""
    given = params.backbones.get(params.chosen.backbone)
    if given is None or given.library is None:
        return {}
    path = Path(str(given.weights))
    if not path.is_file():
        raise UserError(
            f"params.yaml: backbones.{params.chosen.backbone}.weights: {path} does not exist."
        )
    architecture = getattr(given, given.library)
    weights = {"path": str(path), "sha256": sha256_of(path)}
    return {ADDED: {"library": given.library, "architecture": architecture, "weights": weights}}


def make_backbone(name: str, settings: dict[str, Any]) -> tuple["Backbone", dict[str, Any]]:
    """The backbone, and the settings without what only it reads."""
    rest = dict(settings)
    added = rest.pop(ADDED, None)
    if added is None:
        return load("backbone", name)(), rest
    made = load("backbone", name)(
        name, added["library"], added["architecture"], Path(added["weights"]["path"])
    )
    return made, rest
