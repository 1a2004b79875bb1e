"""What params.yaml may say: one block per stage, every bound stated."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator

from sharc.registry import BACKBONES, DATASETS, MEMORIES, METHODS

Share = Annotated[float, Field(ge=0, lt=1)]
Theta = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Device = Literal["auto", "cpu", "cuda"]
if TYPE_CHECKING:  # a type checker cannot follow names that come from the registries
    DatasetName = BackboneName = MethodName = MemoryName = str
else:
    DatasetName = Literal[tuple(DATASETS)]
    BackboneName = Literal[tuple(BACKBONES)]
    MethodName = Literal[tuple(METHODS)]
    MemoryName = Literal[tuple(MEMORIES)]
SourceName = Literal["bundled", "official", "folder", "mirror", "npm"]
Options = dict[str, float | int | str | bool]  # of a method or memory without a block of its own


class Block(BaseModel):
    """A part of params.yaml: no unknown keys, no silent conversions, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


class Data(Block):
    """Where data come from and how classes are laid out."""

    mirror: str | None
    class_order: Literal["ascending"] | Annotated[int, Field(ge=0)]
    validation_share: Share


class Dataset(Block):
    """How a data set is split."""

    tasks: Count
    train_per_class: Count | None = None


class Features(Block):
    """How images become feature maps."""

    image_size: Annotated[int, Field(ge=32, le=1024)]
    normalisation: Literal["dataset", "imagenet", "own"]
    views: Annotated[int, Field(ge=0, le=100)]
    maps_share: Annotated[float, Field(ge=0, le=1)]
    engine: Literal["auto", "torch", "onnx"]
    batch: Count
    device: Device


class Train(Block):
    """What every method's training shares."""

    learning_rate: Positive
    batch: Count
    replay_batch: Count
    joint_bwt: Literal["not_applicable", "untrained_reference"]
    dtype: Literal["float32", "float64"]
    device: Device


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


class BayesPCN(Block):
    """Bayesian predictive coding network."""

    hidden: Count
    sigma: Positive
    prior: Positive
    learning_rate: Positive
    steps: Count
    tolerance: Positive
    beta: Annotated[float, Field(ge=0, le=1)]


class PCN(Block):
    """Predictive coding network."""

    hidden: Count
    sigma: Positive
    learning_rate: Positive
    steps: Count
    weight_steps: Count


class ModernHopfield(Block):
    """Modern Hopfield network."""

    metric: Literal["dot", "euclid", "cosine"]
    beta: Positive


class Hopfield(Block):
    """Classical Hopfield network."""

    steps: Count


def _one_block_each(name: str, registry: dict[str, str], known: dict[str, Any]) -> Any:
    """A block with a key for each registered name, so that a new name needs no new class here."""
    fields: dict[str, Any] = {key: (known.get(key, Options), ...) for key in registry}
    return create_model(name, __base__=Block, **fields)


Methods = _one_block_each(
    "Methods",
    METHODS,
    {"sgd": Empty, "joint": Empty, "er": Rehearsal, "mer": Rehearsal, "agem": Empty}
    | {"gem": GEM, "derpp": DERpp, "clser": CLSER},
)
Memories = _one_block_each(
    "Memories",
    MEMORIES,
    {"none": Empty, "mean": Empty, "oracle": Empty, "bayes_pcn": BayesPCN, "pcn": PCN}
    | {"modern_hopfield": ModernHopfield, "hopfield": Hopfield},
)


class ThetaPerScenario(Block):
    """The share of channels dropped, fixed before any run for each scenario."""

    task_il: Theta
    class_il: Theta


class Sharc(Block):
    """The paper's method."""

    memory: MemoryName
    theta: ThetaPerScenario
    forget_every: Count
    space: Literal["map", "pooled"]


class Switches(Block):
    """Where the paper and the authors' code part ways; two presets, nothing else."""

    budget_count: Literal["kept", "nonzero"]
    stored: Literal["masked", "recalled"]
    recall: Literal["task_start", "at_store"]
    recall_scope: Literal["all", "last_batches"]
    write_scope: Literal["stored", "last_batches"]
    forget: Literal["task", "write"]
    saliency: Literal["abs_gt", "relu_ge", "random"]
    buffer_rule: Literal["last", "reservoir", "ring", "batch_prefix"]
    er_replay: Literal["full", "sampled"]
    mer_beta: Annotated[float, Field(gt=0, le=1)]
    mer_gamma: Annotated[float, Field(gt=0, le=1)]
    clser_head: Literal["stable", "plastic", "working"]
    read: Literal["collapsed", "joint_adam"]


class Protocols(Block):
    """The two presets."""

    paper: Switches
    reference: Switches


class Figure1(Block):
    """The paper's motivating figure."""

    stored: Count
    epochs: Count
    seed: Annotated[int, Field(ge=0)]


class Resource(Block):
    """What a rule asks a scheduler for."""

    threads: Count
    mem_mb: Count
    runtime: Count
    gpu: Annotated[int, Field(ge=0)]


class Resources(Block):
    """Per family of rules; `other` serves those without a line of their own."""

    features: Resource
    train: Resource
    other: Resource


class Comparison(Block):
    """One data set and buffer on which a figure varies one thing."""

    dataset: DatasetName
    buffer: Count
    methods: list[MethodName]


class MemoryComparison(Comparison):
    """The figure that compares associative memories."""

    names: list[MemoryName]


class ThetaComparison(Comparison):
    """The figure that varies the share of dropped channels."""

    values: list[Theta]


class Suite(Block):
    """What `all` builds."""

    sources: Annotated[list[SourceName], Field(min_length=1)]
    datasets: Annotated[list[DatasetName], Field(min_length=1)]
    backbone: BackboneName
    methods: Annotated[list[MethodName], Field(min_length=1)]
    buffers: Annotated[list[Count], Field(min_length=1)]
    appendix_buffers: list[Count] = []
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
    memories: MemoryComparison | None = None
    thetas: ThetaComparison | None = None
    figure1: DatasetName | None = None
    set: dict[str, float | int | str | bool] = {}

    @field_validator("datasets", "methods", "buffers", "appendix_buffers", "seeds")
    @classmethod
    def _no_repeats(cls, values: list[object]) -> list[object]:
        if len(set(values)) < len(values):
            raise ValueError("names an entry twice; list each once")
        return values


class Params(Block):
    """The whole file."""

    suite: str
    protocol: Literal["paper", "reference"]
    data: Data
    datasets: dict[DatasetName, Dataset]
    features: Features
    train: Train
    methods: Methods  # type: ignore[valid-type]
    sharc: Sharc
    memories: Memories  # type: ignore[valid-type]
    protocols: Protocols
    figure1: Figure1
    resources: Resources
    suites: dict[str, Suite]

    @property
    def chosen(self) -> Suite:
        """The suite that is built."""
        return self.suites[self.suite]

    @property
    def switches(self) -> Switches:
        """The protocol that is followed."""
        return self.protocols.paper if self.protocol == "paper" else self.protocols.reference
