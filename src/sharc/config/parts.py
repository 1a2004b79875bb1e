"""What can be set for each method and each associative memory."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, create_model

from sharc.config.base import Block, Count, Positive, Share
from sharc.registry import MEMORIES, METHODS

Options = dict[str, float | int | str | bool]  # of a method or memory without a block of its own


class Rehearsal(Block):
    """ER and MER: the weight of the replayed loss."""

    memory_strength: Annotated[float, Field(ge=0)]


class GEM(Block):
    """Gradient episodic memory: the dual variables' lower bound and the quadratic's ridge."""

    margin: Annotated[float, Field(ge=0)]
    ridge: Positive


class DERpp(Block):
    """Dark experience replay ++: weights of the logits' and the labels' loss."""

    alpha: Annotated[float, Field(ge=0)]
    beta: Annotated[float, Field(ge=0)]


class CLSER(Block):
    """Complementary learning systems: consistency weight; pace and decay of both averages."""

    reg: Annotated[float, Field(ge=0)]
    stable_freq: Annotated[float, Field(ge=0, le=1)]
    stable_alpha: Share
    plastic_freq: Annotated[float, Field(ge=0, le=1)]
    plastic_alpha: Share


class Empty(Block):
    """A method or memory with nothing to set."""


class Coding(Block):
    """What both predictive coding networks search by."""

    hidden: Count
    sigma: Positive
    learning_rate: Positive
    steps: Count
    tolerance: Positive
    write_batch: Count
    read_steps: Count
    read_tolerance: Positive


class BayesPCN(Coding):
    """Bayesian predictive coding network."""

    prior: Positive
    beta: Annotated[float, Field(ge=0, le=1)]


class PCN(Coding):
    """Predictive coding network."""

    weight_steps: Count
    weight_rate: Positive


class ModernHopfield(Block):
    """Modern Hopfield network."""

    metric: Literal["dot", "euclid", "cosine"]
    beta: Positive


class Hopfield(Block):
    """Classical Hopfield network."""

    steps: Count


class _Open(Block):
    """A block that also holds the options of what params.yaml adds (see `sharc.config.added`)."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Options]


def _one_block_each(name: str, registry: dict[str, str], known: dict[str, Any]) -> Any:
    """A block with a key for each registered name, so that a new name needs no new class here."""
    fields: dict[str, Any] = {key: (known.get(key, Options), ...) for key in registry}
    return create_model(name, __base__=_Open, **fields)


Methods = _one_block_each(
    "Methods",
    METHODS,
    {"sgd": Empty, "joint": Empty, "er": Rehearsal, "mer": Rehearsal, "agem": Empty}
    | {"gem": GEM, "derpp": DERpp, "clser": CLSER},
)
Memories = _one_block_each(
    "Memories",
    MEMORIES,
    {
        "none": Empty,
        "mean": Empty,
        "oracle": Empty,
        "pooled": Empty,
        "bayes_pcn": BayesPCN,
        "pcn": PCN,
    }
    | {"modern_hopfield": ModernHopfield, "hopfield": Hopfield},
)
