"""What can be named in params.yaml: one line each, loaded only when used.

A name maps to "module:object". Because nothing here is imported by a stage, a new line
re-runs nothing, and a unit of the graph depends on the modules of its own parts alone.
"""

from importlib import import_module
from typing import Any

from sharc.errors import UserError, unknown

METHODS = {
    "sgd": "sharc.strategies.sgd:SGD",
    "joint": "sharc.strategies.joint:Joint",
    "er": "sharc.strategies.er:ER",
    "mer": "sharc.strategies.mer:MER",
    "gem": "sharc.strategies.gem:GEM",
    "agem": "sharc.strategies.agem:AGEM",
    "derpp": "sharc.strategies.derpp:DERpp",
    "clser": "sharc.strategies.clser:CLSER",
}
MEMORIES = {
    "bayes_pcn": "sharc.memories.bayes_pcn:BayesPCN",
    "modern_hopfield": "sharc.memories.modern_hopfield:ModernHopfield",
    "hopfield": "sharc.memories.hopfield:Hopfield",
    "pcn": "sharc.memories.pcn:PCN",
    "none": "sharc.memories.zeros:Zeros",  # the key is part of committed paths and records
    "mean": "sharc.memories.mean:ClassMean",
    "oracle": "sharc.memories.oracle:Oracle",
    "pooled": "sharc.buffers.pooled:PooledBuffer",
}
DATASETS = {
    "digits": "sharc.datasets.digits:Digits",
    "cifar10": "sharc.datasets.cifar10:CIFAR10",
    "cifar100": "sharc.datasets.cifar100:CIFAR100",
    "mini_imagenet": "sharc.datasets.mini_imagenet:MiniImageNet",
    "tiny_imagenet": "sharc.datasets.tiny_imagenet:TinyImageNet",
}
BACKBONES = {
    "efficientnet_lite0": "sharc.backbones.efficientnet_lite:Lite0",
    "efficientnet_lite1": "sharc.backbones.efficientnet_lite:Lite1",
    "efficientnet_lite2": "sharc.backbones.efficientnet_lite:Lite2",
    "resnet18": "sharc.backbones.resnet18:ResNet18",
    "resnet50": "sharc.backbones.resnet50:ResNet50",
    "vgg16": "sharc.backbones.vgg16:VGG16",
    "vgg16_bn": "sharc.backbones.vgg16_bn:VGG16BN",
    "vit_b_16": "sharc.backbones.vit_b_16:ViTB16",
}
KINDS = {"method": METHODS, "memory": MEMORIES, "dataset": DATASETS, "backbone": BACKBONES}

JOINT = "joint"
WITHOUT_MEMORY = ("sgd", JOINT)  # the two methods that replay nothing and have no "+" form

# Switches of the protocol that are an option of one method: the switch and the option's name.
OF_METHOD = {
    "er": {"er_replay": "replay"},
    "mer": {"mer_beta": "beta", "mer_gamma": "gamma"},
    "clser": {"clser_head": "head"},
}
_PASSES = {"sgd": 1, JOINT: 1, "derpp": 3}


def passes(method: str) -> int:
    """How often a step of the authors' code shows its batch to the network: once to learn, once
    for the maps, and for DER++ once more for the logits.
    """
    return _PASSES.get(method, 2)


def pick(kind: str, name: str) -> str:
    """The "module:object" a name stands for; a miss names its nearest neighbour."""
    if name not in KINDS[kind]:
        raise UserError(unknown(kind, name, KINDS[kind]))
    return KINDS[kind][name]


def module_of(kind: str, name: str) -> str:
    """The module that holds a registered object, without importing it."""
    return pick(kind, name).partition(":")[0]


def load(kind: str, name: str) -> Any:
    """Import and return the object a name stands for."""
    module, _, attribute = pick(kind, name).partition(":")
    return getattr(import_module(module), attribute)
