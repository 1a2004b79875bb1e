"""The options of associative memories, with their defaults."""

from typing import Annotated, Literal

from sharc.options.base import Count, Fraction, NoOptions, Positive, Switch, Weight

UNRECALLED = "none"  # the memory of a buffer that drops nothing
Read = Literal["collapsed", "joint_adam"]


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
