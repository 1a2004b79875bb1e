"""What the README says about adding one's own, done to the letter in a fresh clone."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from project import ROOT, Project, built, clone

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("own")]
SMOOTH = '''
from torch.nn.functional import cross_entropy
from sharc.strategies.by_loss import LossStrategy

class Smooth(LossStrategy):
    """Label smoothing: replays nothing."""

    def loss(self, new, *replayed):
        return cross_entropy(new.logits, new.labels, label_smoothing=0.1)
'''


def section() -> str:
    text = (ROOT / "README.md").read_text()
    return text.split("## Adding your own\n")[1].split("\n## ")[0]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", section(), flags=re.DOTALL)


def add(project: Project, snippet: str) -> None:
    """Put printed or quoted lines into params.yaml; a list of the suite takes their place."""
    path = project.folder / "params.yaml"
    params, lines = yaml.safe_load(path.read_text()), yaml.safe_load(snippet.replace("{..., ", "{"))
    for name, suite in lines.pop("suites").items():
        held = params["suites"][name]
        for key, value in suite.items():
            held[key] = {**held[key], **value} if isinstance(value, dict) else value
    for block, entries in lines.items():
        params.setdefault(block, {}).update(entries)
    path.write_text(yaml.safe_dump(params, sort_keys=False))


def draw_birds(folder: Path) -> None:
    """Twelve images in four classes, of several sizes and modes."""
    source = np.random.default_rng(0)
    for at, name in enumerate(("crow", "finch", "robin", "wren")):
        (folder / name).mkdir(parents=True)
        for number, mode in enumerate(("RGB", "L", "RGBA")):
            pixels = source.integers(0, 64, (20 + at, 24, 3), dtype=np.uint8)
            pixels[..., at % 3] += np.uint8(40 * at + 20)
            Image.fromarray(pixels).convert(mode).save(folder / name / f"{number}.png")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All four kinds and a folder of twelve images, built once."""
    made = clone(tmp_path_factory.mktemp("own") / "sharc", methods=("sgd", "er"))
    compared = {"dataset": "digits", "buffer": 20, "methods": {"er": "task_il"}, "names": ["none"]}
    made.set(suites__demo__memories=compared, suites__demo__figure1=None, train__batch=2)
    made.set(suites__demo__datasets=["digits"], suites__demo__buffers=[20])
    (made.folder / "own/masked_er.py").write_text(blocks("python")[0])
    draw_birds(made.folder / "path/to/images")
    for command in blocks("sh")[0].splitlines():
        words = command.split("#")[0].split()
        if "NAME" in command:
            name = {"memory": "nearest", "dataset": "squares", "backbone": "short"}.get(words[2])
            if name is None:
                continue  # the README has written a method out
            printed = made.run(*(word.replace("NAME", name) for word in words))
            add(made, printed.split("\n\n", 1)[1].rsplit("\n\n", 1)[0])
        else:
            made.run(*words)
    add(made, blocks("yaml")[0])
    (made.folder / "own/smooth.py").write_text(SMOOTH)
    add(made, "methods: {smooth: {class: own/smooth.py:Smooth}}\nsuites: {}")
    made.set(suites__demo__methods=["sgd", "er", "masked_er", "smooth"])
    made.set(suites__demo__datasets=["squares", "birds"], suites__demo__backbone="short")
    made.set(suites__demo__memories__dataset="squares")
    made.run("sharc", "validate")
    made.run("python", "-m", "pytest", "-q", "own")
    output = made.snakemake()
    (made.folder / "said").write_text(output)
    return made


def test_the_readme_puts_all_four_kinds_into_tables_figures_and_report(project: Project):
    report = project.text("outputs/report.html")
    for shown in ("masked ER", "masked ER⁺", "smooth", "Squares", "birds"):
        assert shown in report, shown
    table = project.text("outputs/tables/class_il_main.md")
    assert all(name in table for name in ("masked ER", "smooth", "Squares", "birds"))
    assert "nearest" in project.text("outputs/figures/memories.csv")
    runs = project.folder / "outputs/runs"
    assert {path.name for path in (runs / "birds/short").iterdir()} >= {"masked_er", "smooth"}
    assert (runs / "squares/short/er/nearest-t0.8").is_dir()


def test_a_method_without_memory_has_one_row_and_nothing_missing(project: Project):
    folders = [p.name for p in (project.folder / "outputs/runs/birds/short/smooth").iterdir()]
    assert [name for name in folders if "receipt" not in name] == ["dense"]
    with (project.folder / "outputs/results/summary.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == "smooth"]
    assert {(row["buffer"], row["n"], row["n_missing"]) for row in rows} == {("0", "2", "0")}
    rows = [row for row in project.text("outputs/tables/ledger.md").splitlines() if row[:1] == "|"]
    assert not any("smooth" in row or "missing" in row for row in rows)
    assert "RuntimeWarning" not in project.text("said")


def test_ones_own_enters_no_verdict(project: Project):
    claims = json.loads(project.text("outputs/claims.json"))["claims"]
    assert {claim["verdict"] for claim in claims} == {"not tested by this suite"}


def test_images_are_remarked_on_once_and_their_digest_is_recorded(project: Project):
    said = project.text("said")
    assert said.count("birds: 8 of 12 images were converted to RGB (4 L, 4 RGBA)") == 1
    recorded = json.loads(project.text("data/digests/birds.json"))
    assert {part["files"] for part in recorded.values()} == {3}


def test_ones_own_files_are_in_the_provenance_and_decide_what_is_rebuilt(project: Project):
    trained = project.text("outputs/provenance/train/birds/short/masked_er/dense.json")
    assert "own/masked_er.py" in trained
    assert "Nothing to be done" in project.snakemake()
    with (project.folder / "own/masked_er.py").open("a") as file:
        file.write("\n# a remark\n")
    made = built(project.snakemake())
    trained_again = {job for job in made if job.startswith("train:")}
    assert trained_again
    assert all("/masked_er/" in job for job in trained_again)


def test_changed_images_are_refused_with_what_changed(project: Project):
    (project.folder / "path/to/images/wren/0.png").unlink()
    output = project.snakemake(code=None)
    assert "wren 3 files before, 2 files now" in output
    assert "delete data/digests/birds.json and build again" in output
