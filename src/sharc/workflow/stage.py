"""A stage of the pipeline: a class whose instances are its jobs.

A stage is declared once, in `sharc.pipeline`: its name, the parameters it depends on, what it
needs, what it makes, and the code that makes it. The Snakefile, DVC, provenance, export and
archive read that declaration.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sharc.artifacts import provenance
from sharc.artifacts.receipts import Receipt, read_receipt
from sharc.artifacts.runs import Wanted, is_current, write_key
from sharc.registry import module_of, pick
from sharc.workflow.sources import source_files

if TYPE_CHECKING:
    from sharc.config import Params
    from sharc.workflow.graph import Graph

ALL = "all"  # the name of the only job of a stage
KeyOf = Callable[[Any], str]  # the key of a part of a job, made under these settings


@dataclass(frozen=True)
class Result:
    """What a job made, which of its runs failed, and remarks for the provenance."""

    outputs: list[Path]
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Build:
    """What a job is given when it runs."""

    params: "Params"
    threads: int
    inputs: Mapping[str, str]  # path and digest of everything that its needs made
    key_of: KeyOf
    forced: bool = False  # nothing made before may be reused


@dataclass(frozen=True, eq=False)
class Job(ABC):
    """The smallest piece that is built, skipped, verified and versioned as a whole."""

    stage: ClassVar[str]
    resources: ClassVar[str] = "other"  # the block of `resources` that its rule asks for
    reads: ClassVar[tuple[str, ...]] = ()  # files in Git that it reads
    main: ClassVar[str] = ""  # the file that Snakemake requests, if not the receipt
    exported: ClassVar[tuple[str, ...]] = ()  # what `sharc export` copies from its folder
    shown: ClassVar[str] = ""  # ending of the files that `snakemake --report` shows
    owns_folder: ClassVar[bool] = True  # whether it owns everything in its folder
    origins: ClassVar[Mapping[str, str]] = {}  # where in params.yaml a setting comes from

    name: str  # for example "cifar10/resnet18/er/dense"; "all" for the only job of a stage
    settings: dict[str, Any]  # values that decide what it makes
    needs: tuple["Job", ...]

    @classmethod
    @abstractmethod
    def jobs(cls, graph: "Graph") -> Iterator[Self]:
        """The jobs that the chosen suite has of this stage."""

    @property
    def folder(self) -> Path:
        """The folder of its artifacts."""
        made = Path("outputs", self.stage)
        return made if self.name == ALL else made / self.name

    @property
    def receipt(self) -> Path:
        """The file that lists what it read and made."""
        return self.folder / "receipt.json"

    @property
    def target(self) -> Path:
        """The file by which Snakemake requests it."""
        return self.folder / self.main if self.main else self.receipt

    @property
    def outputs(self) -> tuple[Path, ...]:
        """The files that its rule in the Snakefile names."""
        receipt = self.load_receipt() if self.shown else None
        made = receipt.outputs if receipt else ()
        return (self.target, *(Path(name) for name in made if name.endswith(self.shown)))

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of the registered classes that it uses."""
        return ()

    @property
    def more_modules(self) -> tuple[str, ...]:
        """Modules that it uses and its own module does not import by name."""
        return ()

    @property
    def more_reads(self) -> tuple[str, ...]:
        """Files that params.yaml names and the job reads."""
        return ()

    @property
    def effort(self) -> int:
        """How long it takes relative to other jobs of its stage: the longest start first."""
        return 0

    @abstractmethod
    def run(self, build: Build) -> Result:
        """Make the artifacts."""

    @property
    def id(self) -> str:
        """stage:name, unique in a graph."""
        return f"{self.stage}:{self.name}"

    @property
    def provenance(self) -> Path:
        """The file that records how it ran."""
        return provenance.FOLDER / self.stage / f"{self.name}.json"

    @property
    def log(self) -> Path:
        """The log file of its rule."""
        return Path("outputs/logs") / self.stage / f"{self.name}.log"

    @cached_property
    def found(self) -> dict[str, str]:
        """The classes that the registry has under the names in `classes`."""
        return {f"{kind} {name}": pick(kind, name) for kind, name in self.classes}

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Paths of the code, and of the files in Git, that decide what it makes."""
        bases = type(self).__mro__  # what it inherits from another stage's module is its code too
        modules = {base.__module__ for base in bases if issubclass(base, Job) and base is not Job}
        modules |= set(self.more_modules)
        modules |= {module_of(kind, name) for kind, name in self.classes}
        return tuple(sorted({*_paths(frozenset(modules)), *self.reads, *self.more_reads}))

    def load_receipt(self) -> Receipt | None:
        """Its receipt, if it has a readable one."""
        return read_receipt(self.receipt)

    def owns(self, path: Path) -> bool:
        """Whether `path` is something that this job makes."""
        if path in {self.target, self.receipt}:
            return True
        if self.owns_folder:
            return path.is_relative_to(self.folder)
        receipt = self.load_receipt()
        return receipt is not None and str(path) in receipt.outputs

    def records(self, key_of: KeyOf) -> Iterator[Wanted]:
        """The records of its runs, each with a key of its own, if it trains."""
        return iter(())

    def cached_parts(self, key_of: KeyOf) -> str:
        """In words, which parts of a stale job are still current; empty if it has none."""
        current = [is_current(record) for record in self.records(key_of)]
        return f"{sum(current)} of {len(current)} runs are cached" if any(current) else ""

    def accept_parts(self, key_of: KeyOf) -> None:
        """Let the runs of the job count as made under its present key (`snakemake --touch`)."""
        for record in self.records(key_of):
            if record.path.is_file():
                write_key(record)


def upstream(jobs: Iterable[Job]) -> dict[str, Job]:
    """Some jobs and everything that they are made from, each after what it needs."""
    found: dict[str, Job] = {}

    def visit(job: Job) -> None:
        if job.id not in found:
            for need in job.needs:
                visit(need)
            found[job.id] = job

    for job in jobs:
        visit(job)
    return found


_KNOWN: dict[frozenset[str], tuple[str, ...]] = {}


def _paths(modules: frozenset[str]) -> tuple[str, ...]:
    """The closure of some imports, walked once however many jobs share it."""
    if modules not in _KNOWN:
        here = Path.cwd()
        files = source_files(modules)
        _KNOWN[modules] = tuple(
            str(file.relative_to(here) if file.is_relative_to(here) else file) for file in files
        )
    return _KNOWN[modules]


def files_in(folder: Path) -> list[Path]:
    """Every file a stage wrote into its folder, except the receipt."""
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "receipt.json"]
