"""The names that params.yaml can use: one line each, imported only when used.

A name maps to "module:Class", or to "path/to/file.py:Class" for a class that params.yaml adds.
Because nothing here is imported by a stage, a new line re-runs nothing, and a job depends on the
modules of its own parts alone.
"""

from collections.abc import Mapping
from typing import Any

from sharc.class_text import class_attribute
from sharc.errors import MethodError, UserError, unknown
from sharc.references import import_class, source_line

METHODS = {
    "sgd": "sharc.strategies.sgd:SGD",
    "joint": "sharc.strategies.joint:Joint",
    "er": "sharc.strategies.er:ER",
    "mer": "sharc.strategies.mer:MER",
    "gem": "sharc.strategies.gem:GEM",
    "agem": "sharc.strategies.agem:AGEM",
    "derpp": "sharc.strategies.derpp:DERpp",
    "clser": "sharc.strategies.clser:CLSER",
    "er_ace": "sharc.strategies.er_ace:ERACE",
    "lwf": "sharc.strategies.lwf:LwF",
    "ewc": "sharc.strategies.ewc:EWC",
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
BASES = {
    "method": "sharc.strategies.base:Strategy",
    "memory": "sharc.memories.base:AssociativeMemory",
    "dataset": "sharc.datasets.base:Dataset",
    "backbone": "sharc.backbones.base:Backbone",
}

JOINT = "joint"

_PASSES = {"derpp": 3}
_added: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}


def adopt(added: Mapping[str, Mapping[str, str]]) -> None:
    """Let names stand for the classes that params.yaml adds, in place of any added before."""
    for kind, names in _added.items():
        names.clear()
        names.update(added.get(kind, {}))


def names(kind: str) -> list[str]:
    """Every name that stands for a class: ours, then the user's."""
    return [*KINDS[kind], *_added[kind]]


def is_added(kind: str, name: str) -> bool:
    """Whether a name stands for a class of the user's."""
    return name in _added[kind]


def pick(kind: str, name: str) -> str:
    """The "module:Class" a name stands for; a miss names its nearest neighbour."""
    known = KINDS[kind] | _added[kind]
    if name not in known:
        raise UserError(unknown(kind, name, known))
    return known[name]


def module_of(kind: str, name: str) -> str:
    """The module that holds a class, or the path of its file, without importing it."""
    return pick(kind, name).rpartition(":")[0]


def load(kind: str, name: str) -> Any:
    """Import and return the class a name stands for."""
    reference = pick(kind, name)
    found = import_class(reference)
    if is_added(kind, name):
        _check_class(kind, reference, found)
    return found


def _check_class(kind: str, reference: str, found: Any) -> None:
    """Refuse a user's class that cannot be used, before anything is made with it."""
    base = import_class(BASES[kind])
    if not isinstance(found, type):
        raise MethodError(f"{reference} is not a class.")
    where = f"{source_line(found)}: {found.__name__}"
    if not issubclass(found, base):
        raise MethodError(f"{where} must be a subclass of {base.__module__}.{base.__name__}.")
    if lacking := sorted(getattr(found, "__abstractmethods__", ())):
        raise MethodError(f"{where} lacks {', '.join(lacking)}: `sharc new {kind}` shows how.")


def replays(method: str) -> bool:
    """Whether a method replays, and so has a buffer and a "+" form; its class says so."""
    return bool(class_attribute(pick("method", method), "replays", "none") != "none")


def passes(method: str) -> int:
    """How often a step of the authors' code shows its batch to the network: once to learn, once
    for the maps of a method that replays, and for DER++ once more for the logits.
    """
    return _PASSES.get(method, 2 if replays(method) else 1)
