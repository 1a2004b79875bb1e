"""What can be set for each method and memory, and its value unless params.yaml says otherwise.

This is the only home of a default. Values are checked where they enter: params.yaml in
`sharc.config`, the options of outside classes by `parsed`. A method or memory receives its model.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from sharc.errors import UserError, unknown

Share = Annotated[float, Field(ge=0, lt=1)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
NOT_REGISTERED = "not_registered"  # pydantic's type of error for an unregistered name

# What may be said of the switches of the protocol, whose blocks and models share these types.
BufferRule = Literal["last", "batch_prefix", "reservoir", "ring"]
Read = Literal["collapsed", "joint_adam"]
Saliency = Literal["abs_gt", "relu_ge", "random"]
BudgetCount = Literal["kept", "nonzero"]
WriteScope = Literal["stored", "last_batches"]
RecallScope = Literal["all", "last_batches"]
Recall = Literal["task_start", "at_store"]
Stored = Literal["masked", "recalled"]
Forget = Literal["task", "write"]
ERReplay = Literal["full", "sampled"]
CLSERHead = Literal["stable", "plastic", "working"]
ReptileRate = Annotated[float, Field(gt=0, le=1)]


class Switch(NamedTuple):
    """Marks an option that a switch of the protocol sets, so params.yaml sets it nowhere else."""

    name: str


class NoOptions(BaseModel):
    """Nothing to set; the base of all options. Unknown keys and silent conversions are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    def __getitem__(self, name: str) -> Any:
        """An option by name, for classes that declare `defaults` instead of a model."""
        return getattr(self, name)


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

    strength: Weight = 100.0
    decay: Fraction = 1.0


class MemoryOptions(NoOptions):
    """The base of a memory's options."""

    forget_rate: Fraction = 0.0  # share forgotten each time


class PredictiveCoding(NoOptions):
    """What both predictive coding networks search by."""

    hidden: Count = 256
    sigma: Positive = 0.01  # s of both layers
    learning_rate: Positive = 0.01  # of Adam
    steps: Count = 500  # at most, of a write's search and of joint_adam
    tolerance: Weight = 0.01  # of a write's search, nats per entry
    write_batch: Count = 50  # maps written together
    read: Annotated[Read, Switch("read")] = "collapsed"
    read_steps: Count = 40  # at most, of the collapsed read
    read_tolerance: Weight = 0.002  # nats per entry


class BayesPCNOptions(PredictiveCoding):
    """BayesPCN: the beliefs' first standard deviation, and the share forgotten each time."""

    prior: Positive = 1.0
    beta: Fraction = 0.1

    @property
    def forget_rate(self) -> float:
        """The share forgotten each time, under the name that every memory has for it."""
        return self.beta


class PCNOptions(PredictiveCoding, MemoryOptions):
    """PCN: gradient steps on the weights per write."""

    weight_steps: Count = 1  # 1 is online, 20 nearly fits the batch
    weight_rate: Positive = 1.0  # eta / s²


class HopfieldOptions(MemoryOptions):
    """Classical Hopfield network."""

    steps: Count = 5  # updates, or fewer to a fixed point


class ModernHopfieldOptions(MemoryOptions):
    """Modern Hopfield network: how similar two maps are, and the softmax's inverse temperature."""

    metric: Literal["dot", "euclid", "cosine"] = "euclid"
    beta: Positive = 100.0


class SharcOptions(NoOptions):
    """SHARC's own numbers."""

    forget_every: Count = 1  # tasks, R in Algorithm 1
    space: Literal["map", "pooled"] = "map"
    budget: Literal["samples", "total_bytes"] = "samples"


class StorageOptions(SharcOptions):
    """How SHARC stores and recalls: its numbers and the switches; the defaults are the paper's."""

    saliency: Annotated[Saliency, Switch("saliency")] = "abs_gt"
    budget_count: Annotated[BudgetCount, Switch("budget_count")] = "kept"
    write_scope: Annotated[WriteScope, Switch("write_scope")] = "stored"
    recall_scope: Annotated[RecallScope, Switch("recall_scope")] = "all"
    recall: Annotated[Recall, Switch("recall")] = "task_start"
    stored: Annotated[Stored, Switch("stored")] = "masked"
    forget: Annotated[Forget, Switch("forget")] = "task"

    @model_validator(mode="after")
    def _keeps_what_it_recalls(self) -> Self:
        keep_what_is_recalled(self.recall, self.stored)
        return self

    @property
    def buffer(self) -> str:
        """The class that stores this way: Algorithm 1's if every switch is set as in the paper."""
        differing = {
            name
            for name in switches(type(self))
            if getattr(self, name) != type(self).model_fields[name].default
        }
        if not differing or (differing, self.saliency) == ({"saliency"}, "random"):  # a control
            return "sharc.buffers.sharc:SharcBuffer"
        return "sharc.buffers.reference:ReferenceBuffer"


def keep_what_is_recalled(recall: str, stored: str) -> None:
    """Refuse the one pair of switches that contradict each other."""
    if recall == "at_store" and stored == "masked":
        raise ValueError(
            "recall at_store with stored masked would throw away what it recalls; set stored"
            " to recalled, or recall to task_start"
        )


def switches(model: type[NoOptions]) -> dict[str, str]:
    """The options that the protocol sets, each with its switch."""
    marks = {name: field.metadata for name, field in model.model_fields.items()}
    return {name: m.name for name, found in marks.items() for m in found if isinstance(m, Switch)}


def own_switches(method: str) -> dict[str, str]:
    """The options of one method alone that the protocol sets, each with its switch."""
    found = switches(METHODS.get(method, MethodOptions))
    return {
        name: switch for name, switch in found.items() if name not in MethodOptions.model_fields
    }


Model = TypeVar("Model", bound=NoOptions)


def extended(base: type[Model], name: str, defaults: Mapping[str, Any]) -> type[Model]:
    """A model with further options, of the types of their defaults."""
    fields: dict[str, Any] = {option: (type(value), value) for option, value in defaults.items()}
    return create_model(name, __base__=base, **fields)


def parsed(model: type[Model], values: Mapping[str, Any], owner: str) -> Model:
    """The values as a model; every mistake is named with what is legal."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        lines = []
        for item in error.errors():
            where = ": ".join([owner, *map(str, item["loc"])])
            lines.append(f"{where}: {complaint(dict(item), model.model_fields)}")
        raise UserError("\n".join(lines)) from None


def complaint(item: Mapping[str, Any], known_keys: Iterable[str]) -> str:
    """What one of pydantic's errors means: the bad value and what is legal."""
    if item["type"] == "extra_forbidden":
        return unknown("key", str(item["loc"][-1]), known_keys)
    if item["type"] == "missing":
        return "this key is missing"
    if item["type"] == "literal_error":
        expected = str(item["ctx"]["expected"]).replace(" or ", ", ").split(", ")
        return unknown("value", item["input"], (name.strip("'") for name in expected))
    if item["type"] == NOT_REGISTERED:
        return str(item["msg"])
    message = str(item["msg"]).removeprefix("Value error, ")
    return message if isinstance(item["input"], dict) else f"{message} (got {item['input']!r})"


METHODS: dict[str, type[MethodOptions]] = {
    "er": EROptions,
    "mer": MEROptions,
    "gem": GEMOptions,
    "derpp": DERppOptions,
    "clser": CLSEROptions,
    "lwf": LwFOptions,
    "ewc": EWCOptions,
}  # the others have no options of their own
MEMORIES: dict[str, type[NoOptions]] = {
    "bayes_pcn": BayesPCNOptions,
    "pcn": PCNOptions,
    "hopfield": HopfieldOptions,
    "modern_hopfield": ModernHopfieldOptions,
    "mean": MemoryOptions,
    "oracle": NoOptions,
    "none": NoOptions,
    "pooled": NoOptions,
}


class HasOptions:
    """A class with options: a model of its own, or plain `defaults` such as {"alpha": 0.5}."""

    Options: ClassVar[type[Any]] = NoOptions  # what params.yaml can set

    def __init_subclass__(cls) -> None:
        """Turn `defaults` into a model that has them besides what the base has."""
        super().__init_subclass__()
        if defaults := vars(cls).get("defaults"):
            cls.Options = extended(cls.Options, f"{cls.__name__}Options", defaults)
