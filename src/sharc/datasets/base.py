"""What a data set states about itself, and how its sources are called."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

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
class Place:
    """Where a source may look and keep what it downloads."""

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

    name: ClassVar[str]
    n_classes: ClassVar[int]
    side: ClassVar[int]  # native height and width in pixels
    mean: ClassVar[Triple]  # of pixels scaled to 0..1
    std: ClassVar[Triple]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names `params` may list, in no particular order."""
        return tuple(self.readers())

    @abstractmethod
    def readers(self) -> dict[str, Callable[[Place], Contents]]:
        """One function per source: place -> contents."""

    @abstractmethod
    def expected(self, options: Mapping[str, Any]) -> dict[str, Expected]:
        """Items and content digest per split."""

    @abstractmethod
    def manual_step(self, source: str, place: Place) -> str:
        """What the user can do by hand to make `source` work."""

    def read(self, source: str, place: Place) -> Contents:
        """The splits as `source` gives them, in its own order, not yet checked."""
        if source not in SOURCES:
            raise UserError(unknown("source", source, SOURCES))
        readers = self.readers()
        if source not in readers:
            raise UserError(f"{self.name} has no such source, only {', '.join(readers)}")
        return readers[source](place)
