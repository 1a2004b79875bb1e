"""The ladder: from the authors' code to the paper, one switch of the protocol at a time."""

from dataclasses import dataclass
from typing import Any

from sharc.config import Params
from sharc.config.model import Switches
from sharc.config.suites import Ladder
from sharc.options.methods import METHODS, own_switches


@dataclass(frozen=True)
class Rung:
    """The protocol after one more switch has been set as in the preset `paper`."""

    number: int  # 0 is the preset `reference`
    switch: str | None
    before: Any
    after: Any
    params: Params

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        names = ("number", "switch", "before", "after")
        return {name: getattr(self, name) for name in names}


def rungs(params: Params, ladder: Ladder) -> list[Rung]:
    """Every step, in the order in which the switches stand in the parameters' model.

    A switch that none of the ladder's methods reads is not a step.
    """
    start, end = params.protocols.reference, params.protocols.paper
    others = set(METHODS) - set(ladder.methods)
    unread = {switch for method in others for switch in own_switches(method).values()}
    now = start.model_copy(update={name: getattr(end, name) for name in unread})
    found = [Rung(0, None, None, None, _under(params, now))]
    for name in Switches.model_fields:
        before, after = getattr(now, name), getattr(end, name)
        if before != after:
            now = now.model_copy(update={name: after})
            found.append(Rung(len(found), name, before, after, _under(params, now)))
    return found


def _under(params: Params, switches: Switches) -> Params:
    """The parameters under this protocol."""
    protocols = params.protocols.model_copy(update={"paper": switches})
    return params.model_copy(update={"protocol": "paper", "protocols": protocols})
