"""The blocks `methods` and `memories`: the options that params.yaml sets of each."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ConfigDict, create_model

from sharc.config.base import Block
from sharc.options.base import NoOptions, switches
from sharc.options.memories import MEMORIES
from sharc.options.methods import METHODS, MethodOptions
from sharc.registry import MEMORIES as MEMORY_NAMES
from sharc.registry import METHODS as METHOD_NAMES

Options = dict[str, float | int | str | bool]  # of what params.yaml adds; its class checks them


class _Open(Block):
    """A block that also holds the options of what params.yaml adds (see `sharc.config.added`)."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Options]


def _block(model: type[NoOptions], shared: Collection[str]) -> type[Block]:
    """The options that are set here: neither those that all share nor those of the protocol."""
    left_out = {*shared, *switches(model)}
    fields: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in model.model_fields.items()
        if name not in left_out
    }
    return create_model(model.__name__, __base__=Block, __doc__=model.__doc__, **fields)


def _one_each(name: str, blocks: Mapping[str, type[Block]]) -> Any:
    fields: dict[str, Any] = {key: (block, ...) for key, block in blocks.items()}
    return create_model(name, __base__=_Open, **fields)


_shared = MethodOptions.model_fields
Methods = _one_each(
    "Methods", {name: _block(METHODS.get(name, MethodOptions), _shared) for name in METHOD_NAMES}
)
Memories = _one_each("Memories", {name: _block(MEMORIES[name], ()) for name in MEMORY_NAMES})
