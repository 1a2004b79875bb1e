"""What params.yaml may say: one block per stage, every bound stated."""

from typing import Annotated, Literal

from pydantic import Field

from sharc.config.base import Block, Count, DatasetName, Device, MemoryName, Positive, Share, Theta
from sharc.config.parts import Memories, Methods
from sharc.config.suites import Suite


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
    budget: Literal["samples", "total_bytes"]


class Switches(Block):
    """Where the paper and the authors' code part ways."""

    budget_count: Literal["kept", "nonzero"]
    stored: Literal["masked", "recalled"]
    recall: Literal["task_start", "at_store"]
    recall_scope: Literal["all", "last_batches"]
    write_scope: Literal["stored", "last_batches"]
    forget: Literal["task", "write"]
    saliency: Literal["abs_gt", "relu_ge", "random"]
    buffer_rule: Literal["last", "reservoir", "ring"]
    er_replay: Literal["full", "sampled"]
    mer_beta: Annotated[float, Field(gt=0, le=1)]
    mer_gamma: Annotated[float, Field(gt=0, le=1)]
    clser_head: Literal["stable", "plastic", "working"]
    read: Literal["collapsed", "joint_adam"]


class Protocols(Block):
    """Presets of the switches."""

    paper: Switches


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


class Params(Block):
    """The whole file."""

    suite: str
    protocol: Literal["paper"]
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
        return self.protocols.paper
