"""Snakemake and DVC over one graph: whatever one of them built, the other finds done."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from project import Project, built, clone, stages

pytestmark = pytest.mark.slow
TOOLS = ("snakemake", "dvc")
NOTHING = "Nothing to be done"
PEOPLE = {"collect", "tables", "figures", "claims", "report"}


def assert_at_rest(project: Project) -> None:
    """Both tools find nothing to do."""
    assert NOTHING in project.snakemake()
    assert "up to date" in project.run("dvc", "status")


def test_after_snakemake_both_tools_have_nothing_to_do(project: Project):
    assert_at_rest(project)
    assert built(project.repro()) == set()
    assert_at_rest(project)


def test_after_dvc_both_tools_have_nothing_to_do_and_the_results_are_the_same_bytes(
    finished: Project, tmp_path: Path
):
    project = clone(tmp_path / "sharc")
    assert "report:all" in built(project.repro())
    assert_at_rest(project)
    assert project.results() == finished.results()


def test_a_parameter_of_one_method_rebuilds_its_runs_and_what_follows(project: Project):
    project.set(methods__gem={"margin": 0.25, "ridge": 0.001})
    jobs = built(project.repro())
    runs = {job for job in jobs if job.startswith("train:")}
    assert runs == {
        "train:digits/efficientnet_lite0/gem/dense",
        "train:digits/efficientnet_lite0/gem/modern_hopfield",
    }
    assert stages(jobs) == {"train"} | PEOPLE
    assert_at_rest(project)


def test_a_figure_that_the_suite_no_longer_has_does_not_pass_for_one_of_it(
    project: Project, tmp_path: Path
):
    shown = project.folder / "outputs/figures"
    assert (shown / "figure1.png").is_file()
    project.set(suites__demo__figure1=None)
    assert stages(built(project.snakemake())) == {"figures", "claims", "report"}
    assert not list(shown.glob("figure1.*"))
    project.run("sharc", "export", str(tmp_path / "results"))
    assert not (tmp_path / "results/figure1.png").exists()
    assert_at_rest(project)


def test_a_new_seed_trains_that_seed_alone_and_comes_back_untrained_after_it_was_taken_out(
    project: Project,
):
    before = project.records()
    project.set(suites__demo__seeds=[0, 1, 2])
    project.snakemake()
    after = project.records()
    assert {name: after[name] for name in before} == before
    assert {Path(name).stem for name in set(after) - set(before)} == {"seed2"}
    assert_at_rest(project)
    project.set(suites__demo__seeds=[0, 1])
    project.repro()
    assert project.records() == before
    assert_at_rest(project)
    project.set(suites__demo__seeds=[0, 1, 2])
    project.repro()
    assert project.records() == after


@pytest.mark.parametrize("tool", TOOLS)
def test_an_edited_module_rebuilds_exactly_the_jobs_that_import_it(project: Project, tool: str):
    with (project.folder / "src/sharc/strategies/er.py").open("a") as file:
        file.write("\n# a remark\n")
    jobs = built(project.build(tool))
    assert jobs == {  # what came out is the same, so nothing that follows is touched
        "train:digits/efficientnet_lite0/er/dense",
        "train:digits/efficientnet_lite0/er/modern_hopfield",
    }
    assert_at_rest(project)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_touched_file_rebuilds_nothing(project: Project, tool: str):
    for name in ("src/sharc/strategies/er.py", "params.yaml", "data/raw/digits/meta.json"):
        (project.folder / name).touch()
    assert built(project.build(tool)) == set()
    assert_at_rest(project)


def test_an_older_revision_checked_out_of_both_is_complete(project: Project):
    old_tables = project.text("outputs/tables/comparison.md")
    first = project.run("git", "rev-parse", "HEAD").strip()
    changed = {"methods__er": {"memory_strength": 0.1}}
    project.set(**changed)
    project.snakemake()
    project.commit("another weight")
    assert project.text("outputs/tables/comparison.md") != old_tables
    project.run("git", "checkout", "-q", first)
    project.run("dvc", "checkout", "--force")
    assert_at_rest(project)
    assert project.text("outputs/tables/comparison.md") == old_tables
    # The trap: with the other weight set again by hand, old results must not pass for new ones.
    project.set(**changed)
    separate = Project(project.folder)  # of a fork, the words after `dvc repro` cannot be seen
    assert stages(built(separate.run("dvc", "repro", "train"))) == {"train"}


def test_a_fresh_clone_that_pulls_has_nothing_to_run(project: Project, tmp_path: Path):
    project.run("dvc", "push")
    project.run("git", "clone", "-q", ".", str(tmp_path / "second"))
    second = Project(tmp_path / "second")
    second.run("dvc", "pull")
    assert_at_rest(second)


def test_experiments_metrics_and_plots_show_what_matters(project: Project):
    output = project.run("dvc", "exp", "run", "-S", "methods.gem.margin=0.25", "-n", "closer")
    assert output.count("Building DAG of jobs") == 1  # one start of Snakemake for all stages
    assert "is empty" not in output
    assert "class_il.gain_sharc" in project.run("dvc", "metrics", "diff", "HEAD")
    table = project.run("dvc", "exp", "show", "--csv", "--num", "1")
    columns = table.splitlines()[0].split(",")
    numbers = [name for name in columns if name.startswith(("class_il.", "task_il."))]
    assert 8 <= len(numbers) <= 12
    varied = yaml.safe_load(project.text("dvc.yaml"))["stages"]["train"]["params"]
    shown = [name for name in columns if name.startswith(tuple(varied))]
    method_options = [name for name in shown if name.startswith("methods.")]
    assert {"methods.gem.margin", "methods.derpp.alpha"} <= set(method_options)
    assert len(shown) == 9 + len(method_options)  # sharc.theta has two
    # The others: what an experiment is, and the digest of each dependency of a stage.
    paths = [name for name in columns if (project.folder / name).exists()]
    assert columns[:5] == ["Experiment", "rev", "typ", "Created", "parent"]
    assert len(columns) == 5 + len(numbers) + len(shown) + len(paths)
    table = project.run("dvc", "exp", "show", "--only-changed", "--csv", "--num", "1")
    columns = table.splitlines()[0].split(",")
    assert [name for name in columns if name.startswith(tuple(varied))] == ["methods.gem.margin"]
    project.run("dvc", "plots", "diff", "HEAD", "--out", "plots")
    page = project.text("plots/index.html")
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace(
        "https://vega.github.io/schema/", ""
    )
    assert "Accuracy on the tasks seen so far" in page
    assert "What SHARC adds" in page
    assert_at_rest(project)


def test_an_interrupted_build_goes_on_where_it_stopped(finished: Project, tmp_path: Path):
    project = clone(tmp_path / "sharc")
    running = subprocess.Popen(
        ["snakemake", "--cores", "2", "all"],
        cwd=project.folder, env=project.environment(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(lambda: bool(project.records()))
    os.killpg(running.pid, signal.SIGINT)
    running.wait(timeout=120)
    kept = project.records()
    assert stages(built(project.snakemake())) <= {"train"} | PEOPLE
    assert kept.items() <= project.records().items()
    assert project.results() == finished.results()


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
