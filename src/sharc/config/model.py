"""What params.yaml may say: one block per stage, every bound stated."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sharc.config.base import (
    BackboneName,
    Block,
    Count,
    DatasetName,
    Device,
    MemoryName,
    Positive,
    Share,
    Theta,
)
from sharc.config.datasets import Dataset
from sharc.config.parts import Empty, Memories, Methods
from sharc.config.suites import Suite


class Data(Block):
    """Where data come from and how classes are laid out."""

    mirror: str | None
    class_order: Literal["ascending"] | Annotated[int, Field(ge=0)]
    validation_share: Share


class Features(Block):
    """How images become feature maps."""

    image_size: Annotated[int, Field(ge=32, le=1024)]
    views: Annotated[int, Field(ge=0, le=100)]
    maps_share: Annotated[float, Field(ge=0, le=1)]
    engine: Literal["auto", "torch", "onnx", "openvino"]
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

    read: Literal["collapsed", "joint_adam"]
    bn_mode: Literal["eval", "train"]
    normalisation: Literal["dataset", "imagenet", "own"]
    budget_count: Literal["kept", "nonzero"]
    buffer_rule: Literal["last", "batch_prefix", "reservoir", "ring"]
    saliency: Literal["abs_gt", "relu_ge", "random"]
    write_scope: Literal["stored", "last_batches"]
    recall_scope: Literal["all", "last_batches"]
    recall: Literal["task_start", "at_store"]
    stored: Literal["masked", "recalled"]
    forget: Literal["task", "write"]
    er_replay: Literal["full", "sampled"]
    mer_beta: Annotated[float, Field(gt=0, le=1)]
    mer_gamma: Annotated[float, Field(gt=0, le=1)]
    clser_head: Literal["stable", "plastic", "working"]

    @model_validator(mode="after")
    def _keeps_what_it_recalls(self) -> Self:
        if self.recall == "at_store" and self.stored == "masked":
            raise ValueError(
                "recall at_store with stored masked would throw away what it recalls; set stored"
                " to recalled, or recall to task_start"
            )
        return self

    @model_validator(mode="after")
    def _examples_cost_the_same(self) -> Self:
        differ = self.budget_count == "nonzero" or self.saliency == "relu_ge"
        if differ and self.buffer_rule in {"reservoir", "ring"}:
            raise ValueError(
                f"buffer_rule {self.buffer_rule} needs examples that all cost the same; with"
                " budget_count nonzero or saliency relu_ge use last or batch_prefix"
            )
        return self


class Protocols(Block):
    """Presets of the switches."""

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
    backbones: dict[BackboneName, Empty] = Field(default_factory=dict)
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
        return self.protocols.reference if self.protocol == "reference" else self.protocols.paper
