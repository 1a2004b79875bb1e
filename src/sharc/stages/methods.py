"""A method with its buffer and memory, made from the options that a run's record holds."""

from functools import partial
from typing import TYPE_CHECKING, Any

from sharc.artifacts.runs import DENSE
from sharc.options.base import parsed
from sharc.options.memories import UNRECALLED
from sharc.options.storage import StorageOptions
from sharc.references import import_class
from sharc.registry import load, passes

if TYPE_CHECKING:
    from sharc.stages.train import Method


def make_method(name: str, memory: str, recorded: dict[str, Any], device: str) -> "Method":
    """A method with its buffer; `memory` is a registered name, or `dense`."""
    from sharc.buffers.base import Buffer
    from sharc.stages.train import Method

    options = dict(recorded)
    given, sharc = options.pop("memory", None), options.pop("sharc", None)
    options |= options.pop("method") | {"device": device}
    strategy = load("method", name)
    if sharc is None:
        return Method(strategy, options, recorded, passes=passes(name))
    kind = load("memory", UNRECALLED if memory == DENSE else memory)
    if issubclass(kind, Buffer):  # a way to store, which recalls nothing
        return Method(strategy, options, recorded, kind, passes(name))
    memory_options = parsed(kind.Options, given or {}, f"memory {memory}")
    storage = parsed(StorageOptions, sharc, "sharc")
    # Imported by its address: plain methods do not use it and do not become stale when it changes.
    buffer = import_class(storage.buffer)
    make = partial(buffer, memory=kind, memory_options=memory_options, sharc=storage)
    return Method(strategy, options, recorded, make, passes(name))
