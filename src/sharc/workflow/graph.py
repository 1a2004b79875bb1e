"""The jobs of the chosen suite, each after the jobs it needs."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sharc.artifacts.digests import digest
from sharc.artifacts.files import digest_of
from sharc.config import Params
from sharc.errors import UserError
from sharc.workflow.sources import as_in_a_clone
from sharc.workflow.stage import Job

J = TypeVar("J", bound=Job)


class Graph:
    """Every job of a suite, each made once; a stage may ask for the jobs of another."""

    def __init__(self, params: Params, stages: Iterable[type[Job]]) -> None:
        self.params = params
        self.stages = tuple(stages)
        self._of: dict[type[Job], list[Any]] = {}
        self._code: dict[tuple[str, ...], dict[str, str]] = {}  # digests, looked up once
        self._named: dict[tuple[str, ...], dict[str, str]] = {}
        self.jobs = {job.id: job for stage in self.stages for job in self.of(stage)}

    def made_by(self, target: str) -> Job:
        """The job whose main file this is."""
        if target not in self._by_target:
            raise UserError(f"{target} is not in the grid: params.yaml was changed since.")
        return self._by_target[target]

    @cached_property
    def _by_target(self) -> dict[str, Job]:
        return {str(job.target): job for job in self.jobs.values()}

    def of(self, stage: type[J]) -> list[J]:
        """The jobs of one stage."""
        if stage not in self._of:
            self._of[stage] = list(stage.jobs(self))
        return self._of[stage]

    def one(self, stage: type[J], name: str) -> J:
        """The job of a stage that has this name."""
        return next(job for job in self.of(stage) if job.name == name)

    def in_stage(self, name: str) -> list[Job]:
        """The jobs of the stage of that name."""
        return [job for job in self.jobs.values() if job.stage == name]

    def owners(self, path: Path) -> list[Job]:
        """The jobs that make `path`; if it is a folder, those that make something in it."""
        inside = [job for job in self.jobs.values() if path in job.target.parents]
        return inside or [job for job in self.jobs.values() if job.owns(path)]

    def inputs(self, job: Job) -> dict[str, str] | None:
        """Path and digest of everything that `job` reads, or None if some of it is not built."""
        found: dict[str, str] = {}
        for need in job.needs:
            receipt = need.load_receipt()
            if receipt is None:
                return None
            found |= receipt.outputs
        return found

    def code(self, job: Job) -> dict[str, str]:
        """Path and digest of its sources."""
        if job.sources not in self._code:
            self._code[job.sources] = {name: digest(Path(name)) for name in job.sources}
        return self._code[job.sources]

    def key(self, job: Job, inputs: dict[str, str]) -> str:
        """What decides the job's outputs: code, settings, and the content of its inputs."""
        return self.part_key(job, inputs, job.settings)

    def part_key(self, job: Job, inputs: dict[str, str], settings: Any) -> str:
        """The same for a part of a job that is made under `settings`."""
        code = self._code_anywhere(job)
        return digest_of([job.stage, job.name, code, job.found, settings, inputs])

    def _code_anywhere(self, job: Job) -> dict[str, str]:
        """Its code under the names of a clone, so that keys are equal wherever it is installed."""
        if job.sources not in self._named:
            code = self.code(job).items()
            self._named[job.sources] = {as_in_a_clone(name): found for name, found in code}
        return self._named[job.sources]
