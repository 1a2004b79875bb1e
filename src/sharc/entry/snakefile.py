"""What the Snakefile calls, so that the Snakefile itself reads as a table of contents."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from sharc.config import load_params
from sharc.entry import dvc
from sharc.entry.job import FORCED
from sharc.errors import UserError
from sharc.pipeline import STAGES, build_graph
from sharc.workflow.accept import accept
from sharc.workflow.freshness import State, failures, order_times, states
from sharc.workflow.graph import Graph
from sharc.workflow.lock import lock_build
from sharc.workflow.stage import ALL, Job

_STAGES = {stage.stage for stage in STAGES}


class Suite:
    """The chosen suite's jobs as rules see them: a rule's wildcards, in order, name its job."""

    def __init__(self, graph: Graph, *, overridden: bool) -> None:
        self.graph, self.name = graph, graph.params.suite
        self.trained_on = "streamed" if graph.params.switches.bn_mode == "train" else "features"
        self.states: dict[str, State] = {}
        self.overridden = overridden  # by `--config suite=...`; DVC follows params.yaml

    def job(self, stage: str, wildcards: Iterable[str]) -> Job:
        """The job of a rule and its wildcards."""
        return self.graph.jobs[f"{stage}:{'/'.join(wildcards) or ALL}"]

    def files(self, *stages: str) -> list[str]:
        """The main file of every job of some stages."""
        return [str(job.target) for stage in stages for job in self.graph.in_stage(stage)]

    @property
    def external(self) -> list[str]:
        """The CSV files of results from elsewhere: params.yaml, `external`."""
        return list(self.graph.params.external.values())

    def shown(self, stage: str) -> list[str]:
        """The files `snakemake --report` shows of a stage, known once the stage is built."""
        jobs = [job for job in self.graph.in_stage(stage) if self._is_current(job)]
        return [str(path) for job in jobs for path in job.outputs if path != job.target]

    def caption(self, file: str) -> dict[str, str]:
        """How `snakemake --report` presents what a rule makes."""
        return {"caption": f"docs/captions/{file}", "category": Path(file).stem.title()}

    def _is_current(self, job: Job) -> bool:
        return job.id in self.states and self.states[job.id].current

    def needs(self, stage: str) -> Callable[[Any], list[str]]:
        """Input function: the main files of the jobs that a job needs."""
        return lambda wildcards: [str(need.target) for need in self.job(stage, wildcards).needs]

    def why(self, wildcards: Any, output: Any) -> str:
        """Params function: what runs and why, in words."""
        job = self.graph.made_by(str(output[0]))
        state = self.states.get(job.id)
        why = state.why if state else ""
        if job.id in os.environ.get(FORCED, "").split():
            why = "requested on the command line"
        return f"{job.stage} {job.name}: {why or 'what it reads is built first'}"

    def threads(self, block: str) -> int:
        """How many threads a rule asks for: params.yaml, `resources`."""
        return int(getattr(self.graph.params.resources, block).threads)

    def resources(self, block: str) -> dict[str, int]:
        """What else a rule asks the scheduler for."""
        asked = getattr(self.graph.params.resources, block).model_dump()
        return {"cpus_per_task": asked.pop("threads"), **asked}

    def longest_first(self, stage: str) -> Callable[[Any], float]:
        """Start the longest jobs first, so that no core waits for one of them at the end."""
        most = max((job.effort for job in self.graph.in_stage(stage)), default=0) + 1
        return lambda wildcards: self.job(stage, wildcards).effort / most

    def targets(self, asked: Iterable[str]) -> frozenset[str]:
        """Targets of the command line as files that rules make; names of rules are left alone."""
        found: set[str] = set()
        for target in asked:
            path = Path(os.path.relpath(target))
            makers = [job for job in self.graph.owners(path) if not self._lacks(job, path)]
            found |= {str(job.target) for job in makers} or {target}
        return frozenset(found)

    def _lacks(self, job: Job, path: Path) -> bool:
        """Whether a finished job did not make this file."""
        receipt = job.load_receipt() if self._is_current(job) else None
        if receipt is None:
            return False
        made = (*map(Path, receipt.outputs), job.receipt)
        return not any(file.is_relative_to(path) for file in made)

    def finish(self, workflow: Any) -> None:
        """After a build: record it in DVC, and exit with an error if runs failed."""
        if workflow.touch:
            ran = [job for job in workflow.dag.jobs if job.rule.name in _STAGES]
            accept(self.graph, {self.job(job.rule.name, job.wildcards).id for job in ran})
        try:
            dvc.record(self.graph, self.name if self.overridden else None)
        except UserError as error:
            _stop(error)
        if failed := failures(self.graph):
            print(*failed, sep="\n", file=sys.stderr)
            sys.exit(1)


def start(workflow: Any, suite: str | None) -> Suite:
    """Check the parameters; in the main process, lock the folder, set file times, read targets."""
    try:
        params = load_params()
        chosen = load_params(suite=suite) if suite else params
        view = Suite(build_graph(chosen), overridden=chosen.suite != params.suite)
        if workflow.is_main_process:
            for folder in (Path("outputs"), Path("data")):
                _require_writable(folder)
            workflow.sharc_lock = lock_build()  # held until this process ends
            _take_stock(view)
            _resolve_targets(workflow, view)
    except UserError as error:
        _stop(error)
    return view


def _resolve_targets(workflow: Any, view: Suite) -> None:
    """Read the command line's targets once Snakemake has them, right before it makes the DAG."""
    make_dag = workflow._prepare_dag

    def make_dag_for_our_targets(*arguments: Any, **options: Any) -> Any:
        _resolve(workflow.dag_settings, view)
        return make_dag(*arguments, **options)

    workflow._prepare_dag = make_dag_for_our_targets


def _resolve(settings: Any, view: Suite) -> None:
    """Let any artifact or folder be a target; note the jobs that Snakemake was asked to force."""
    for name in ("targets", "forcerun", "until", "omit_from"):
        setattr(settings, name, view.targets(getattr(settings, name)))
    jobs = view.graph.jobs.values()
    asked = {*settings.forcerun, *(settings.targets if settings.forcetargets else ())}
    forced = [j.id for j in jobs if settings.forceall or asked & {j.stage, str(j.target)}]
    os.environ[FORCED] = " ".join(forced)


def _take_stock(view: Suite) -> None:
    view.states = states(view.graph, unstash=True)
    for state in view.states.values():
        if state.damaged:
            print(f"{state.why} since it was built: it will be rebuilt.", file=sys.stderr)
    complete = all(state.current for state in view.states.values())
    if complete and not view.overridden and not dvc.is_recorded(view.graph):
        for job in view.graph.in_stage("report"):  # it finds nothing to do; then DVC is updated
            view.states[job.id] = State(False, "DVC has no record of this build yet")
    order_times(view.graph, view.states)


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise UserError(
            f"{folder}/ is not writable, and the build writes its files there. "
            f"Make it writable (`chmod u+w {folder}`) or work in another copy of the project."
        )


def _stop(error: UserError) -> NoReturn:
    """End the build with one message, where Snakemake would print a traceback."""
    print(error, file=sys.stderr)
    sys.stderr.flush()
    os._exit(2)
