"""The graph: which units there are, what each is made of and what it needs.

The Snakefile, the generated dvc.yaml and the command line all read this one definition.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sharc.artifacts import provenance
from sharc.artifacts.digests import digest
from sharc.artifacts.files import digest_of
from sharc.artifacts.receipts import Receipt, read_receipt
from sharc.sources import source_files

STAMPS = Path(".sharc/stamps")


@dataclass(frozen=True)
class Unit:
    """The smallest piece that is built, skipped, verified and versioned as a whole."""

    family: str
    name: str  # for example "cifar10/resnet18/er/dense"; "all" for a family of one
    folder: Path  # where its artifacts lie
    receipt: Path
    needs: tuple[str, ...] = ()  # ids of the units it reads
    params: dict[str, Any] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # files in Git that it reads besides its modules

    @property
    def id(self) -> str:
        """family:name, unique in a graph."""
        return f"{self.family}:{self.name}"

    @property
    def stamp(self) -> Path:
        """What Snakemake sees: present exactly while the unit is current."""
        return STAMPS / self.family / (self.name.replace("/", "--") + ".stamp")

    @property
    def provenance(self) -> Path:
        """Where the record of its making lies."""
        return provenance.FOLDER / self.family / f"{self.name}.json"

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Relative paths of the code and files in Git that decide what the unit computes."""
        return tuple(sorted({*_code_of(self.modules, Path.cwd()), *self.files}))

    def load_receipt(self) -> Receipt | None:
        """The unit's receipt, if it has a readable one."""
        return read_receipt(self.receipt)


@cache
def _code_of(modules: tuple[str, ...], here: Path) -> tuple[str, ...]:
    """The closure of some imports, walked once however many units share it."""
    return tuple(str(path.relative_to(here)) for path in source_files(modules))


class Graph:
    """Units by id, in an order in which each comes after what it needs."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self.units = {unit.id: unit for unit in units}
        self._code: dict[tuple[str, ...], dict[str, str]] = {}  # digests, asked for once

    def family(self, name: str) -> list[Unit]:
        """The units of one family."""
        return [unit for unit in self.units.values() if unit.family == name]

    def needs(self, unit: Unit) -> list[Unit]:
        """The units that `unit` reads."""
        return [self.units[name] for name in unit.needs]

    def inputs(self, unit: Unit) -> dict[str, str] | None:
        """Path and digest of all that `unit` reads, or None if some of it is not built."""
        found: dict[str, str] = {}
        for need in self.needs(unit):
            receipt = need.load_receipt()
            if receipt is None:
                return None
            found |= receipt.outputs
        return found

    def key(self, unit: Unit, inputs: dict[str, str]) -> str:
        """What decides the unit's outputs: code, parameters, and the content of its inputs."""
        return self.part_key(unit, inputs, unit.params)

    def part_key(self, unit: Unit, inputs: dict[str, str], params: dict[str, Any]) -> str:
        """The same for a part of a unit that is made under `params`."""
        if unit.sources not in self._code:
            self._code[unit.sources] = {name: digest(Path(name)) for name in unit.sources}
        code = self._code[unit.sources]
        return digest_of([unit.family, unit.name, code, params, inputs])
