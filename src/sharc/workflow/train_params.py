"""Which parameters a training unit depends on: those its method and memory read, no others."""

from collections.abc import Sequence
from typing import Any

from sharc.config import Params
from sharc.grid import DENSE, Cell
from sharc.options import (
    MEMORIES,
    NoOptions,
    SharcOptions,
    StorageOptions,
    own_switches,
    switches,
)
from sharc.registry import module_of, replays

UNRECALLED = "none"  # the memory of a buffer that drops nothing


def train_params(
    params: Params, method: str, kept_as: str, members: Sequence[Cell]
) -> dict[str, Any]:
    """Options shared by all runs of a unit, and the list of its runs."""
    chosen = params.switches.model_dump()
    options: dict[str, Any] = params.train.model_dump(exclude={"joint_bwt", "device"})
    options["method"] = _plain(getattr(params.methods, method)) | {
        option: chosen[switch] for option, switch in own_switches(method).items()
    }
    if replays(method):
        options["buffer_rule"] = chosen["buffer_rule"]
    if kept_as != DENSE:
        searched = switches(MEMORIES.get(kept_as, NoOptions))
        options["memory"] = _plain(getattr(params.memories, kept_as))
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


def train_modules(method: str, kept_as: str, unit_params: dict[str, Any]) -> list[str]:
    """The modules that a method and its memory are made of."""
    modules = ["sharc.stages.train", module_of("method", method)]
    if "sharc" in unit_params["options"]:
        memory = UNRECALLED if kept_as == DENSE else kept_as
        storage = StorageOptions(**unit_params["options"]["sharc"])
        modules += [storage.buffer.partition(":")[0], module_of("memory", memory)]
    return modules


def record_params(unit_params: dict[str, Any], cell: dict[str, Any], seed: int) -> dict[str, Any]:
    """What one run of the unit depends on: adding a seed or a buffer leaves it alone."""
    return {"options": unit_params["options"], "cell": cell, "seed": seed}


def _plain(options: Any) -> dict[str, Any]:
    """What params.yaml says; what it leaves out is in `sharc.options`, which is hashed as code."""
    return dict(options) if isinstance(options, dict) else options.model_dump(exclude_unset=True)
