"""The options of methods, with their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from sharc.options.base import (
    Count,
    Fraction,
    NoOptions,
    Positive,
    Share,
    Switch,
    Weight,
    switches,
)

BufferRule = Literal["last", "batch_prefix", "reservoir", "ring"]
ERReplay = Literal["full", "sampled"]
CLSERHead = Literal["stable", "plastic", "working"]
ReptileRate = Annotated[float, Field(gt=0, le=1)]


class TrainOptions(NoOptions):
    """What the training of every method shares."""

    learning_rate: Positive = 0.1
    batch: Count = 10
    replay_batch: Count = 10
    dtype: Literal["float32", "float64"] = "float32"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    classifier: Literal["linear", "mlp"] = "linear"
    hidden: Count = 256  # units of the mlp's hidden layer


class MethodOptions(TrainOptions):
    """The base of a method's options: those shared by all methods, to which it adds its own."""

    buffer_rule: Annotated[BufferRule, Switch("buffer_rule")] = "last"


class EROptions(MethodOptions):
    """ER: the weight of the replayed loss, and how much of the memory a step replays."""

    memory_strength: Weight = 1.0
    replay: Annotated[ERReplay, Switch("er_replay")] = "full"


class MEROptions(MethodOptions):
    """MER: the weight of the replayed loss; Reptile's rates within and across inner steps."""

    memory_strength: Weight = 1.0
    beta: Annotated[ReptileRate, Switch("mer_beta")] = 1.0
    gamma: Annotated[ReptileRate, Switch("mer_gamma")] = 0.5


class GEMOptions(MethodOptions):
    """GEM: the dual variables' lower bound and the quadratic's ridge."""

    margin: Weight = 0.5
    ridge: Positive = 1e-3


class DERppOptions(MethodOptions):
    """DER++: weights of the logits' and the labels' loss."""

    alpha: Weight = 0.1
    beta: Weight = 0.5


class CLSEROptions(MethodOptions):
    """CLS-ER: consistency weight; update frequency and decay of both averages."""

    reg: Weight = 0.15
    stable_freq: Fraction = 0.1
    stable_alpha: Share = 0.999
    plastic_freq: Fraction = 0.3
    plastic_alpha: Share = 0.999
    head: Annotated[CLSERHead, Switch("clser_head")] = "working"


class LwFOptions(MethodOptions):
    """LwF: weight and temperature of the distillation."""

    strength: Weight = 1.0
    temperature: Positive = 2.0


class EWCOptions(MethodOptions):
    """Online EWC: weight of the quadratic penalty, share kept of older tasks' Fisher."""

    strength: Weight = 10.0
    decay: Fraction = 1.0


METHODS: dict[str, type[MethodOptions]] = {
    "er": EROptions,
    "mer": MEROptions,
    "gem": GEMOptions,
    "derpp": DERppOptions,
    "clser": CLSEROptions,
    "lwf": LwFOptions,
    "ewc": EWCOptions,
}  # the others have no options of their own


def own_switches(method: str) -> dict[str, str]:
    """The options of one method alone that the protocol sets, each with its switch."""
    found = switches(METHODS.get(method, MethodOptions))
    return {
        name: switch for name, switch in found.items() if name not in MethodOptions.model_fields
    }
