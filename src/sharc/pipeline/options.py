"""The parameters that training depends on: only those that its method and memory use."""

from collections.abc import Sequence
from typing import Any

from sharc.artifacts.runs import DENSE
from sharc.class_text import class_attribute
from sharc.config import Params
from sharc.grid import Cell
from sharc.options.base import NoOptions, switches
from sharc.options.memories import MEMORIES, UNRECALLED
from sharc.options.methods import own_switches
from sharc.options.storage import SharcOptions, StorageOptions
from sharc.references import split_reference
from sharc.registry import pick, replays


def train_settings(
    params: Params, method: str, memory: str, members: Sequence[Cell]
) -> dict[str, Any]:
    """Options shared by all runs of a job, and the list of its runs."""
    chosen = params.switches.model_dump()
    linear = (
        {"classifier", "hidden"} if params.train.classifier == "linear" else set()
    )  # no trace in records
    options: dict[str, Any] = params.train.model_dump(exclude={"joint_bwt", "device", *linear})
    options["method"] = _plain(getattr(params.methods, method)) | {
        option: chosen[switch] for option, switch in own_switches(method).items()
    }
    if replays(method):
        options["buffer_rule"] = chosen["buffer_rule"]
    if memory != DENSE:
        searched = switches(MEMORIES.get(memory, NoOptions))
        options["memory"] = _plain(getattr(params.memories, memory))
        options["memory"] |= {option: chosen[switch] for option, switch in searched.items()}
        options["sharc"] = params.sharc.model_dump(include=set(SharcOptions.model_fields))
        options["sharc"] |= {name: chosen[name] for name in switches(StorageOptions)}
    elif replays(method) and chosen["budget_count"] == "nonzero":
        options["sharc"] = {"budget_count": "nonzero"}  # whole maps, but zeros cost nothing
    runs = [
        {"variant": cell.variant.name, "theta": cell.variant.theta, "buffer": cell.buffer}
        for cell in members
    ]
    return {"options": options, "cells": runs, "seeds": params.chosen.seeds}


def classes(method: str, memory: str, options: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The registered classes that training with these options uses."""
    used = [("method", method)]
    if "sharc" in options:
        used.append(("memory", UNRECALLED if memory == DENSE else memory))
    return tuple(used)


def chosen_modules(method: str, options: dict[str, Any]) -> tuple[str, ...]:
    """Modules that the options choose: of a buffer other than the plain one that every method
    imports, and of the loss that replaces a closed form where the head is not linear.
    """
    used = []
    if "sharc" in options:
        used.append(StorageOptions(**options["sharc"]).buffer)
    loss_form = class_attribute(pick("method", method), "loss_form")
    if loss_form and options.get("classifier") == "mlp":
        used.append(loss_form)
    return tuple(split_reference(reference)[0] for reference in used)


def _plain(options: Any) -> dict[str, Any]:
    """What params.yaml sets; defaults are in `sharc.options`, which is hashed as code."""
    return dict(options) if isinstance(options, dict) else options.model_dump(exclude_unset=True)
