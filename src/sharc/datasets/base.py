"""The base of data sets: their constants and their sources."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sharc.datasets.first_sight import Seen
from sharc.datasets.raw import Contents
from sharc.errors import UserError, unknown

SOURCES = ("bundled", "official", "mirror", "npm", "folder")
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Expected:
    """What a split must hold; `digest` is None where no published content digest exists."""

    items: int
    digest: str | None


@dataclass(frozen=True)
class Location:
    """Where a source finds its files and keeps its downloads, and the options of the data set."""

    downloads: Path
    mirror: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def mirror_of(self, dataset: str) -> Path:
        """The mirror's folder of `dataset`, or the reason why there is none."""
        if self.mirror is None:
            raise UserError("no mirror folder is set (params key data.mirror or SHARC_MIRROR)")
        folder = self.mirror / dataset
        if not folder.is_dir():
            raise UserError(f"the mirror folder {self.mirror} holds no {dataset}/")
        return folder


class Dataset(ABC):
    """One data set: its constants and one reader per source."""

    name: str
    n_classes: int
    side: int  # native height and width in pixels
    mean: Triple  # of pixels scaled to 0..1
    std: Triple

    def __init__(self, name: str | None = None) -> None:
        if name is not None:  # the one under which params.yaml knows a class of the user's
            self.name = name

    @property
    def sources(self) -> tuple[str, ...]:
        """The names `params` may list, in no particular order."""
        return tuple(self.readers())

    @abstractmethod
    def readers(self) -> dict[str, Callable[[Location], Contents]]:
        """One function per source, which reads the contents from a location."""

    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        """Items and content digest per split; none where nobody has published any.

        Anything else is recorded at first sight and checked from then on.
        """
        return {}

    def seen(self, location: Location) -> Seen:
        """What is recorded of data that nobody has published; {} means the digest of each split."""
        return {}

    def manual_step(self, source: str, location: Location) -> str:
        """What the user can do by hand to make `source` work, if there is anything."""
        return ""

    def read(self, source: str, location: Location) -> Contents:
        """The splits as `source` gives them, in its own order, not yet checked."""
        readers = self.readers()
        if source not in (*SOURCES, *readers):
            raise UserError(unknown("source", source, SOURCES))
        if source not in readers:
            raise UserError(f"{self.name} has no such source, only {', '.join(readers)}")
        return readers[source](location)
