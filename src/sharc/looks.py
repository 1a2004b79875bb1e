"""Labels, colours and markers of all names, ours and the user's."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

UNKNOWN_COLOUR, UNKNOWN_MARKER = "#333333", "o"


class Look(NamedTuple):
    """How a method, memory or data set appears in tables and figures."""

    label: str
    colour: str = UNKNOWN_COLOUR
    marker: str = UNKNOWN_MARKER


# Okabe and Ito's palette; every series also has a marker of its own, so grey print works.
_METHODS = {
    "joint": Look("JOINT", "#000000", "*"),
    "sgd": Look("SGD", "#555555", "x"),
    "gem": Look("GEM", "#0072B2", "s"),
    "agem": Look("A-GEM", "#56B4E9", "D"),
    "er": Look("ER", "#D55E00", "o"),
    "mer": Look("MER", "#E69F00", "^"),
    "derpp": Look("DER++", "#009E73", "v"),
    "clser": Look("CLS-ER", "#CC79A7", "P"),
    "er_ace": Look("ER-ACE", "#882255", "p"),
    "lwf": Look("LwF", "#117733", "<"),
    "ewc": Look("online EWC", "#332288", ">"),
}
_MEMORIES = {
    "bayes_pcn": Look("BayesPCN", "#0072B2", "o"),
    "modern_hopfield": Look("modern Hopfield", "#D55E00", "s"),
    "hopfield": Look("classical Hopfield", "#E69F00", "^"),
    "pcn": Look("PCN", "#009E73", "v"),
    "none": Look("none (zeros)", "#555555", "x"),
    "mean": Look("class mean", "#56B4E9", "D"),
    "oracle": Look("oracle", "#000000", "*"),
    "pooled": Look("pooled storage", "#CC79A7", "P"),
}
_DATASETS = {
    "cifar10": Look("S-CIFAR-10"),
    "cifar100": Look("S-CIFAR-100"),
    "mini_imagenet": Look("S-Mini-ImgNet"),
    "tiny_imagenet": Look("S-Tiny-ImgNet"),
    "digits": Look("S-Digits"),
}
LOOKS: Mapping[str, Mapping[str, Look]] = {
    "method": _METHODS,
    "memory": _MEMORIES,
    "dataset": _DATASETS,
    "backbone": {},
}
# For names without a look: 6 colours and 7 markers repeat only after 42 names.
SPARE_COLOURS = ("#332288", "#882255", "#999933", "#661100", "#AA4499", "#117733")
MARKERS = tuple("os^vD*PXxphdH<>8+")  # those of matplotlib's that have an area
SPARE_MARKERS = ("X", "p", "h", "<", ">", "d", "8")
_added: dict[str, dict[str, Look]] = {kind: {} for kind in LOOKS}


def adopt(added: Mapping[str, Mapping[str, Mapping[str, str | None]]]) -> None:
    """Show names as params.yaml or their classes ask, and otherwise unlike any other name.

    By kind and name: what is known of `label`, `colour` and `marker`. Earlier additions are
    forgotten.
    """
    for kind, looks in _added.items():
        looks.clear()
        for name, wanted in added.get(kind, {}).items():
            looks[name] = _look(name, wanted, {**LOOKS[kind], **looks})


def _look(name: str, wanted: Mapping[str, str | None], others: Mapping[str, Look]) -> Look:
    taken = {(look.colour, look.marker) for look in others.values()}
    label, colour, marker = (wanted.get(field) for field in Look._fields)
    spares = [
        Look(label or name, colour or spare_colour, marker or spare_marker)
        for spare_colour, spare_marker in zip(SPARE_COLOURS * 7, SPARE_MARKERS * 6, strict=True)
    ]
    return next((spare for spare in spares if spare[1:] not in taken), spares[0])


def look(kind: str, name: str) -> Look:
    """How a name is shown; an unknown one is its own label."""
    return LOOKS[kind].get(name) or _added[kind].get(name) or Look(name)


def added() -> dict[str, dict[str, list[str]]]:
    """What is shown as params.yaml asks, as plain values."""
    return {
        kind: {name: list(look) for name, look in looks.items()} for kind, looks in _added.items()
    }


class Shown(Mapping[str, str]):
    """One column of the looks of a kind, by name: ours first, then those that were adopted."""

    def __init__(self, kind: str, column: str) -> None:
        self.kind, self.column = kind, column

    def __getitem__(self, name: str) -> str:
        known = LOOKS[self.kind].get(name) or _added[self.kind][name]
        return str(getattr(known, self.column))

    def __iter__(self) -> Iterator[str]:
        yield from LOOKS[self.kind]
        yield from _added[self.kind]

    def __len__(self) -> int:
        return len(LOOKS[self.kind]) + len(_added[self.kind])
