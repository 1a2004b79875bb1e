"""One history: a project to which one thing after the other happens, checked after each."""

import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from forks import Forks
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from processes import Build, stage_of
from project import Project, built, stages
from test_both_tools import NOTHING
from test_damage import flip
from tiny import RATES, REMARKS, SEEDS, TRAINED, WORDS, Clean, artifacts, sources

NUMBERS = st.integers(0, 10**6)
rates, seed_lists = st.sampled_from(RATES), st.sampled_from(SEEDS)


class History(RuleBasedStateMachine):
    """A project to which one thing after the other happens."""

    def __init__(self, start: Project, forks: Forks, folder: Path, clean: Clean) -> None:
        super().__init__()
        self.forks, self.folder, self.clean, self.clones = forks, folder, clean, 0
        self.checked = 0  # steps
        self.project = forks.project(folder / "sharc")
        shutil.copytree(start.folder, self.project.folder, symlinks=True)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def check(self, reasons: set[str], done: str = "") -> None:
        """Build what is left: for `reasons` alone, and nothing that the step has `done`."""
        output = self.project.snakemake()
        jobs, before = built(output), built(done)
        assert stages(jobs | before) <= reasons, (jobs, before, reasons, output)
        assert not jobs & before, output
        found, expected = artifacts(self.project), self.clean(sources(self.project))
        names = found.keys() | expected.keys()
        different = [name for name in sorted(names) if found.get(name) != expected.get(name)]
        assert not different, different
        again = output if NOTHING in output else self.project.snakemake()
        assert NOTHING in again, again
        status = self.project.run("dvc", "status")
        assert "up to date" in status, status
        self.checked += 1

    def set(self, **values: object) -> set[str]:
        """Change parameters that training reads; the stages that this gives a reason to build."""
        before = sources(self.project)
        self.project.set(**values)
        return TRAINED if sources(self.project) != before else set()

    @rule(rate=rates)
    def change_a_parameter(self, rate: float) -> None:
        self.check(self.set(train__learning_rate=rate))

    @rule(seeds=seed_lists)
    def add_or_remove_a_seed(self, seeds: list[int]) -> None:
        before = self.project.records()
        self.check(self.set(suites__demo__seeds=seeds))
        after = self.project.records()
        assert all(before[name] == after[name] for name in before.keys() & after.keys())

    @rule(module=st.sampled_from(sorted(REMARKS)), number=NUMBERS)
    def remark_on_a_module(self, module: str, number: int) -> None:
        with (self.project.folder / "src/sharc" / module).open("a") as file:
            file.write(f"\n# remark {number}\n")
        self.check(REMARKS[module])

    @rule(module=st.sampled_from(sorted(WORDS)))
    def change_what_a_module_does(self, module: str) -> None:
        one, other, reasons = WORDS[module]
        path = self.project.folder / "src/sharc" / module
        text = path.read_text()
        path.write_text(text.replace(one, other) if one in text else text.replace(other, one))
        self.check(reasons)

    @rule(number=NUMBERS, harm=st.sampled_from(["touch", "delete", "flip"]))
    def harm_an_artifact(self, number: int, harm: str) -> None:
        names = sorted(self.project.results())
        name = names[number % len(names)]
        path = self.project.folder / name
        if harm == "touch":
            path.touch()
        elif harm == "delete":
            path.unlink()
        elif path.stat().st_size:
            flip(path, random.Random(number))
        self.check(set() if harm == "touch" else {stage_of(name)})

    @rule(rate=rates, moment=st.floats(0, 20), jobs=st.booleans())
    def kill_a_build(self, rate: float, moment: float, jobs: bool) -> None:
        reasons = self.set(train__learning_rate=rate)
        build = Build(self.project)
        with suppress(subprocess.TimeoutExpired):  # else it was done before
            build.process.wait(moment)
        build.kill(jobs=jobs)
        self.check(reasons)
        build.end()

    @rule(rate=rates, number=NUMBERS, folder=st.booleans())
    def build_a_target(self, rate: float, number: int, folder: bool) -> None:
        reasons = self.set(train__learning_rate=rate)
        names = sorted(name for name in artifacts(self.project) if not name.endswith(".gitkeep"))
        target = Path(names[number % len(names)])
        asked = str(target.parent if folder else target)
        self.check(reasons, self.project.run("snakemake", "--cores", "2", asked))

    @rule(rate=rates)
    def reproduce(self, rate: float) -> None:
        self.check(self.set(train__learning_rate=rate), self.project.repro())

    @rule(rate=rates)
    def run_an_experiment(self, rate: float) -> None:
        before = sources(self.project)
        done = self.project.run("dvc", "exp", "run", "-S", f"train.learning_rate={rate}")
        self.check(TRAINED if sources(self.project) != before else set(), done)

    @rule(number=NUMBERS, artifacts_too=st.booleans())
    def check_a_commit_out(self, number: int, artifacts_too: bool) -> None:
        self.commit()
        commits = self.project.run("git", "rev-list", "HEAD", "main", "^tiny").split()
        self.project.run("git", "checkout", "-q", commits[number % len(commits)])
        if artifacts_too:
            self.project.run("dvc", "checkout", "--force")
        self.check(set() if artifacts_too else TRAINED)

    @rule()
    def go_on_in_a_second_clone(self) -> None:
        self.commit()
        self.project.run("dvc", "push")
        self.clones += 1
        second = self.forks.project(self.folder / f"clone{self.clones}")
        self.project.run("git", "clone", "-q", ".", str(second.folder))
        self.project.run("git", "push", "-q", str(second.folder), "--tags")
        second.run("dvc", "pull")
        self.project = second
        self.check(set())

    @rule(rate=rates)
    def start_two_builds(self, rate: float) -> None:
        reasons = self.set(train__learning_rate=rate)
        first = Build(self.project)
        output = self.project.snakemake(code=None)
        first.process.wait(timeout=600)
        assert "Traceback" not in output
        self.check(reasons, output)

    def commit(self) -> None:
        if self.project.run("git", "status", "--porcelain"):
            self.project.commit("a step")
