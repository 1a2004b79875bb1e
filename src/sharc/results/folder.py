"""The collected results: data frames and the provenance of every cell."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from sharc.artifacts.files import read_json
from sharc.errors import UserError
from sharc.results.summary import by_seed


@dataclass(frozen=True)
class Results:
    """A folder of collected results; each file is read once, on first use."""

    folder: Path
    only: Mapping[str, Collection[Any]] = field(default_factory=dict)  # values by column

    def _read(self, name: str) -> pd.DataFrame:
        path = self.folder / name
        packed = path.with_name(f"{name}.gz")  # as `sharc export` writes what is large
        path = packed if packed.is_file() and not path.is_file() else path
        if not path.is_file():
            raise UserError(f"{path} does not exist: build it with `snakemake --cores 2 all`.")
        # The memory called "none" must not turn into a missing value.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        for column in self.only.keys() & set(frame.columns):
            frame = frame[frame[column].isin(self.only[column]) | frame[column].isna()]
        return frame

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per run and scenario."""
        return self._read("runs.csv")

    @cached_property
    def curves(self) -> pd.DataFrame:
        """One row per run, scenario and task."""
        return self._read("curves.csv")

    @cached_property
    def recall(self) -> pd.DataFrame:
        """One row per run, stored task and later task."""
        return self._read("recall.csv")

    @cached_property
    def heads(self) -> pd.DataFrame:
        """CLS-ER's other heads."""
        return self._read("heads.csv")

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per cell and scenario."""
        return self._read("summary.csv")

    @cached_property
    def external(self) -> pd.DataFrame:
        """Runs computed by other programs; usually none."""
        path = self.folder / "external.csv"
        names = ["source", "method", "dataset", "buffer", "scenario", "acc", "bwt", "file"]
        return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=names)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Cell name -> parameters and runs."""
        content: dict[str, Any] = read_json(self.folder / "provenance.json")
        return content

    @cached_property
    def _cells(self) -> dict[tuple[Any, ...], pd.DataFrame]:
        names = ["dataset", "backbone", "method", "variant", "buffer", "scenario"]
        return dict(iter(self.runs.groupby(names, sort=False)))

    def seeds(self, metric: str, *cell: Any) -> dict[int, float]:
        """Metric by seed of one cell: dataset, backbone, method, variant, buffer, scenario."""
        group = self._cells.get(cell)
        return {} if group is None else by_seed(group, metric)
