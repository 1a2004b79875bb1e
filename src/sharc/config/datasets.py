"""The model of a data set in params.yaml: ours, a user's class, or a user's images."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from sharc.config.base import Block
from sharc.config.parts import Options
from sharc.options.base import Count, Share

IMAGES = {
    "folder": "sharc.datasets.image_folder:ImageFolder",
    "parquet": "sharc.datasets.image_parquet:ImageParquet",
}
_OF_IMAGES = ("test_share", "test_seed", "side", "classes")


class Dataset(Block):
    """How a data set is split; and, of a user's images, where they are and how they are read."""

    tasks: Count
    train_per_class: Count | None = None
    folder: str | None = None  # one folder per class, perhaps below train/ and test/
    parquet: str | None = None  # a file, or a folder of them
    test_share: Annotated[Share, Field(gt=0)] = 0.2  # of each class, where there is no test/
    test_seed: int = 0
    side: Annotated[int, Field(ge=8, le=1024)] = 224  # pixels, stored
    classes: list[str] | dict[str, str] | None = None  # in this order, perhaps with other names
    label: str | None = None  # in tables and figures
    options: Options = Field(default_factory=dict)  # of a user's own class

    @model_validator(mode="after")
    def _options_have_a_reader(self) -> Self:
        given = self.model_fields_set
        if self.folder and self.parquet:
            raise ValueError("give a folder or parquet, not both")
        if not (self.folder or self.parquet) and (extra := given & set(_OF_IMAGES)):
            raise ValueError(f"{min(extra)} is only for images named by `folder` or `parquet`")
        return self

    @property
    def images(self) -> Path | None:
        """Where the user's images are."""
        return Path(self.folder or self.parquet or "") if self.folder or self.parquet else None

    @property
    def reading(self) -> dict[str, Any]:
        """What decides how it is read, as a data set's `options`."""
        if self.images is None:
            return {"train_per_class": self.train_per_class, **self.options}
        wanted = self.classes
        shown = wanted if isinstance(wanted, dict) else {name: name for name in wanted or ()}
        classes = [list(pair) for pair in shown.items()]  # pairs, because their order counts
        values = {name: getattr(self, name) for name in (*IMAGES, *_OF_IMAGES)}
        return values | {"classes": classes}
