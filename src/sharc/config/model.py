"""The model of params.yaml: one block per stage, with all bounds."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sharc.config.backbones import AddedBackbone
from sharc.config.base import BackboneName, Block, DatasetName, Device, MemoryName, Theta
from sharc.config.datasets import Dataset
from sharc.config.parts import Memories, Methods
from sharc.config.suites import Suite
from sharc.options import memories, methods, storage
from sharc.options.base import Count, Share


class Data(Block):
    """Where data come from and how classes are assigned to tasks."""

    mirror: str | None
    class_order: Literal["ascending"] | Annotated[int, Field(ge=0)]
    validation_share: Share


class Features(Block):
    """How images become feature maps."""

    image_size: Annotated[int, Field(ge=32, le=1024)]
    views: Annotated[int, Field(ge=0, le=100)]
    maps_share: Annotated[float, Field(ge=0, le=1)]
    engine: Literal["auto", "torch", "onnx"]
    batch: Count
    device: Device


class Train(methods.TrainOptions):
    """What every method's training shares, and how JOINT's backward transfer is counted."""

    joint_bwt: Literal["not_applicable", "untrained_reference"]


class ThetaPerScenario(Block):
    """The share of channels dropped, fixed before any run for each scenario."""

    task_il: Theta
    class_il: Theta


class Sharc(storage.SharcOptions):
    """The paper's method."""

    memory: MemoryName
    theta: ThetaPerScenario


class Switches(Block):
    """Where the paper and the authors' code differ."""

    read: memories.Read
    bn_mode: Literal["eval", "train"]
    normalisation: Literal["dataset", "imagenet", "own"]
    budget_count: storage.BudgetCount
    buffer_rule: methods.BufferRule
    saliency: storage.Saliency
    write_scope: storage.WriteScope
    recall_scope: storage.RecallScope
    recall: storage.Recall
    stored: storage.Stored
    forget: storage.Forget
    er_replay: methods.ERReplay
    mer_beta: methods.ReptileRate
    mer_gamma: methods.ReptileRate
    clser_head: methods.CLSERHead

    @model_validator(mode="after")
    def _keeps_what_it_recalls(self) -> Self:
        storage.keep_what_is_recalled(self.recall, self.stored)
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
    """Resources by stage; `other` is for stages without their own line."""

    features: Resource
    train: Resource
    other: Resource


# Follows a label in tables; must be safe for Snakemake and shells.
ExternalName = Annotated[str, Field(pattern=r"^[A-Za-z][\w .-]*$")]


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
    backbones: dict[BackboneName, AddedBackbone] = Field(default_factory=dict)
    protocols: Protocols
    figure1: Figure1
    external: dict[ExternalName, str] = Field(default_factory=dict)
    resources: Resources
    suites: dict[str, Suite]

    @model_validator(mode="after")
    def _chooses_on_held_out_images(self) -> Self:
        suite = self.suites.get(self.suite)
        if suite and suite.select and not self.data.validation_share:
            raise ValueError(
                f"suites.{self.suite}.select chooses on held-out training images, but"
                " data.validation_share is 0; set it above 0, for example to 0.1, or drop select"
            )
        return self

    @property
    def chosen(self) -> Suite:
        """The suite that is built."""
        return self.suites[self.suite]

    @property
    def switches(self) -> Switches:
        """The protocol that is followed."""
        return self.protocols.reference if self.protocol == "reference" else self.protocols.paper
