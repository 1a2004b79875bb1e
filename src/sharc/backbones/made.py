"""A backbone as a job's settings say: ours, a class of the user's, or a library's with weights."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc.registry import load

if TYPE_CHECKING:
    from sharc.backbones.base import Backbone

ADDED = "added"  # the setting that holds an added backbone's architecture and weights


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
