"""Random histories of what people do to a project: whatever came before, a build ends the same.

    SHARC_HISTORIES=300 SHARC_HISTORY_SEED=1 pytest tests/workflow/test_histories.py

Each step is followed by `snakemake all`, which must run no job that `sharc grid` had not announced
and must leave the bytes of a clean build of the same parameters; then neither tool has work left.
"""

import os
import random
import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from processes import Build
from project import Project, built, clone
from test_damage import flip

COUNT = int(os.environ.get("SHARC_HISTORIES", "0"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COUNT == 0, reason="set SHARC_HISTORIES to the number of histories to draw"),
]
SEED = int(os.environ.get("SHARC_HISTORY_SEED", "20"))
STEPS = 4
RATES, SEEDS = (0.02, 0.01), ([0], [0, 1])
MODULES = ("strategies/er.py", "results/summary.py", "report/facts.py", "workflow/graph.py")
TARGETS = (
    "outputs/tables/class_il_main.md",
    "outputs/runs",
    "data/raw/digits",
    "outputs/claims.md",
)
Bytes = dict[str, bytes]


def tiny(folder: Path) -> Project:
    """A clone with the smallest suite that has a job of every stage but the ladder's."""
    project = clone(folder, methods=("er",))
    project.set(sharc__memory="mean", sharc__theta={"task_il": 0.5, "class_il": 0.5})
    project.set(suites__demo__seeds=[0], train__learning_rate=RATES[0])
    project.set(suites__demo__set={"features.image_size": 32, "features.engine": "torch"})
    project.set(figure1={"stored": 10, "epochs": 1, "seed": 0})
    project.commit("tiny")
    return project


class Clean:
    """What a build from nothing gives, for each setting of the parameters; built when asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Bytes] = {}

    def __call__(self, params: str) -> Bytes:
        if params not in self._known:
            project = tiny(self.folder / f"clean{len(self._known)}")
            (project.folder / "params.yaml").write_text(params)
            project.snakemake()
            self._known[params] = artifacts(project)
            shutil.rmtree(project.folder)
        return self._known[params]


def artifacts(project: Project) -> Bytes:
    """The results, without the keys that name the code they were made by."""
    keys = re.compile(r"(\.key|receipt\.json|\.gitkeep)$")
    return {name: found for name, found in project.results().items() if not keys.search(name)}


class History(RuleBasedStateMachine):
    """A project to which one thing after the other happens."""

    def __init__(self, start: Project, folder: Path, clean: Clean) -> None:
        super().__init__()
        self.folder, self.clean, self.clones = folder, clean, 0
        self.project = Project(folder / "sharc")
        shutil.copytree(start.folder, self.project.folder, symlinks=True)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def check(self) -> None:
        """Build, and compare with a clean build; then both tools are at rest."""
        announced = self.announced()
        output = self.project.snakemake()
        assert built(output) <= announced, output
        assert artifacts(self.project) == self.clean(self.project.text("params.yaml"))
        assert self.announced() == set()
        assert "up to date" in self.project.run("dvc", "status")

    def announced(self) -> set[str]:
        grid = self.project.run("sharc", "grid")
        return set(re.findall(r"^(\w+:\S+)  +to run", grid, flags=re.MULTILINE))

    def artifact(self, number: int) -> Path:
        names = sorted(artifacts(self.project))
        return self.project.folder / names[number % len(names)]

    @rule(rate=st.sampled_from(RATES), seeds=st.sampled_from(SEEDS))
    def edit_parameters(self, rate: float, seeds: list[int]) -> None:
        self.project.set(train__learning_rate=rate, suites__demo__seeds=seeds)
        self.check()

    @rule(module=st.sampled_from(MODULES), number=st.integers(0, 10**6))
    def edit_a_module(self, module: str, number: int) -> None:
        with (self.project.folder / "src/sharc" / module).open("a") as file:
            file.write(f"# remark {number}\n")
        self.check()

    @rule(number=st.integers(0, 10**6), harm=st.sampled_from(["touch", "delete", "flip"]))
    def harm_an_artifact(self, number: int, harm: str) -> None:
        path = self.artifact(number)
        if harm == "flip" and path.stat().st_size:
            flip(path, random.Random(number))
        elif harm == "delete":
            path.unlink()
        else:
            path.touch()
        self.check()

    @rule(rate=st.sampled_from(RATES), moment=st.floats(0, 12), jobs=st.booleans())
    def kill_a_build(self, rate: float, moment: float, jobs: bool) -> None:
        self.project.set(train__learning_rate=rate)
        build = Build(self.project)
        time.sleep(moment)
        build.kill(jobs=jobs)
        self.check()
        build.end()

    @rule(rate=st.sampled_from(RATES), asked=st.sampled_from(TARGETS))
    def build_a_target(self, rate: float, asked: str) -> None:
        self.project.set(train__learning_rate=rate)
        self.project.run("snakemake", "--cores", "2", asked)
        self.check()

    @rule(rate=st.sampled_from(RATES), experiment=st.booleans())
    def reproduce_with_dvc(self, rate: float, experiment: bool) -> None:
        if experiment:
            self.project.run("dvc", "exp", "run", "-S", f"train.learning_rate={rate}")
        else:
            self.project.set(train__learning_rate=rate)
            self.project.repro()
        self.check()

    @rule(artifacts_too=st.booleans())
    def check_the_commit_before_out(self, artifacts_too: bool) -> None:
        self.commit()
        self.project.run("git", "checkout", "-q", "HEAD~1")
        if artifacts_too:
            self.project.run("dvc", "checkout", "--force", code=None)
        self.check()

    @rule()
    def go_on_in_a_second_clone(self) -> None:
        self.commit()
        self.project.run("dvc", "push")
        self.clones += 1
        second = Project(self.folder / f"clone{self.clones}")
        self.project.run("git", "clone", "-q", ".", str(second.folder))
        shutil.copy2(self.project.folder / ".dvc/config", second.folder / ".dvc/config")
        second.run("dvc", "pull")
        self.project = second
        self.check()

    @rule(rate=st.sampled_from(RATES))
    def start_two_builds(self, rate: float) -> None:
        self.project.set(train__learning_rate=rate)
        first = Build(self.project)
        output = self.project.snakemake(code=None)
        first.process.wait(timeout=600)
        assert "Traceback" not in output
        self.check()

    def commit(self) -> None:
        if self.project.run("git", "status", "--porcelain"):
            self.project.commit("a step")


def test_whatever_happened_before_a_build_ends_with_what_a_clean_build_gives(tmp_path: Path):
    start, clean = tiny(tmp_path / "start"), Clean(tmp_path / "clean")
    start.snakemake()
    start.commit("built")
    numbers = iter(range(10**9))
    run_state_machine_as_test(
        seed(SEED)(type("Histories", (History,), {
            "__init__": lambda self: History.__init__(
                self, start, tmp_path / f"history{next(numbers)}", clean
            ),
        })),
        settings=settings(
            max_examples=COUNT,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )  # fmt: skip
