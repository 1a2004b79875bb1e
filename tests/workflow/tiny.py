"""The smallest project that has a job of every stage but the ladder's, and its clean builds."""

import shutil
from pathlib import Path

import yaml
from forks import Forks
from project import Project, clone
from test_both_tools import PEOPLE

RATES, SEEDS = (0.02, 0.01), ([0], [0, 1])
TRAINED = {"train", *PEOPLE}
REMARKS: dict[str, set[str]] = {  # a module that gives the same when remarked on; who imports it
    "strategies/er.py": {"train"},
    "stages/collect.py": {"collect"},
    "results/summary.py": PEOPLE,
    "figures/recall_error.py": {"figures"},
    "report/facts.py": {"report"},
    "workflow/graph.py": set(),
}
WORDS = {  # a module, what is put in place of what, and what is rebuilt
    "strategies/er.py": ("memory_strength / task", "memory_strength / 2 / task", TRAINED),
    "figures/recall_error.py": ("against task age", "against age", {"figures", "report"}),
}
Sources = dict[str, str]


def tiny(folder: Path) -> Project:
    """A clone with four classes of drawn squares, a short backbone, one method and one figure."""
    project = clone(folder, methods=("er",))
    for kind, name in (("dataset", "squares"), ("backbone", "short")):
        project.run("sharc", "new", kind, name)
    project.set(datasets__squares={"class": "own/squares.py:Squares", "tasks": 2})
    project.set(backbones={"short": {"class": "own/short.py:Short"}}, train__learning_rate=RATES[0])
    project.set(suites__demo__datasets=["squares"], suites__demo__figure1="squares")
    project.set(suites__demo__backbone="short", suites__demo__buffers=[20])
    project.set(suites__demo__seeds=SEEDS[0], sharc__memory="mean")
    project.set(sharc__theta={"task_il": 0.5, "class_il": 0.5})
    project.set(figure1={"stored": 10, "epochs": 1, "seed": 0})
    drawn = project.folder / "src/sharc/stages/figures.py"
    lines = drawn.read_text().splitlines(keepends=True)
    drawn.write_text("".join(x for x in lines if ".draw(" not in x or "recall_error" in x))
    project.commit("tiny")
    project.run("git", "tag", "tiny")
    return project


def sources(project: Project) -> Sources:
    """What decides a build: the parameters, and the modules without their remarks."""
    modules = {name: f"src/sharc/{name}" for name in (*REMARKS, *WORDS)}
    texts = {name: project.text(path).partition("\n# remark")[0] for name, path in modules.items()}
    params = yaml.safe_dump(yaml.safe_load(project.text("params.yaml")))  # however it is laid out
    return {"params.yaml": params} | texts


def artifacts(project: Project) -> dict[str, bytes]:
    """The results, without the keys that name the code they were made by."""
    found = project.results()
    return {name: found[name] for name in found if not name.endswith((".key", "receipt.json"))}


class Clean:
    """What a build from nothing gives for some sources; built when asked for."""

    def __init__(self, start: Project, forks: Forks, folder: Path) -> None:
        self._start, self._forks, self._folder = start, forks, folder
        self._known: dict[str, dict[str, bytes]] = {}

    def __call__(self, wanted: Sources) -> dict[str, bytes]:
        if (key := repr(wanted)) not in self._known:
            project = self._forks.project(self._folder)
            project.folder.mkdir()
            self._start.run("git", "clone", "-q", ".", str(project.folder))
            shutil.rmtree(project.folder / ".dvc")  # it need not know
            for name, text in wanted.items():
                path = name if name == "params.yaml" else f"src/sharc/{name}"
                (project.folder / path).write_text(text)
            project.snakemake()
            self._known[key] = artifacts(project)
            shutil.rmtree(project.folder)
        return self._known[key]
