"""The paper's tables from our runs: layout, numbers, verdicts, and LaTeX that compiles."""

import math
import re
import shutil
import subprocess

import pandas as pd
import pytest

import fake_results
import fake_runs
from sharc.errors import UserError
from sharc.results.layout import GROUPS, SCENARIOS, Layout
from sharc.results.paper import Paper
from sharc.results.statistics import Estimate
from sharc.results.verdicts import agreement, direction, interval, printed_direction
from sharc.stages import collect, tables
from sharc.tables.comparison import counts
from sharc.tables.render import Table, write


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    made = fake_results.small()
    tables.build(made.results, fake_results.PAPER, folder, layout=made.layout)
    return folder


@pytest.fixture(scope="module")
def comparison(out):
    return pd.read_csv(out / "comparison.csv")


def line(frame, **fields):
    for name, value in fields.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_every_table_comes_in_four_forms(out):
    names = [f"{scenario}_{group}" for scenario in SCENARIOS for group in GROUPS]
    names += ["comparison", "ledger"]
    expected = {f"{name}.{ending}" for name in names for ending in ("tex", "md", "csv", "html")}
    assert {path.name for path in out.iterdir()} == expected | {"all.tex"}


def test_rows_stand_in_the_papers_order_with_each_plus_below_its_base(out):
    text = (out / "task_il_main.md").read_text()
    models = [row.split("|")[2].strip() for row in text.splitlines() if row.startswith("| ")][1:]
    assert models == ["JOINT", "SGD", "ER", "**ER⁺**", "DER++", "**DER++⁺**"]


def test_the_plus_rows_use_each_scenarios_own_theta(out):
    summary = pd.read_csv(fake_results.small().results / "summary.csv")
    for scenario, variant in (("task_il", "bayes_pcn-t0.8"), ("class_il", "bayes_pcn-t0.5")):
        shared = {"dataset": "cifar10", "method": "er", "buffer": 200}
        cell = line(summary, scenario=scenario, variant=variant, **shared)
        shown = line(pd.read_csv(out / f"{scenario}_main.csv"), sharc=1, **shared)
        assert shown["acc_mean"] == pytest.approx(cell["acc_mean"], abs=1e-5)


def test_latex_shades_plus_rows_and_uses_booktabs(out):
    text = (out / "class_il_main.tex").read_text()
    shaded = [row for row in text.splitlines() if row.startswith(r"\rowcolor{gray!20}")]
    assert len(shaded) == 2
    assert r"\textbf{ER}$^{+}$" in shaded[0]
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\cmidrule(lr){3-4}"):
        assert rule in text


def test_bwt_of_joint_is_said_to_be_not_applicable(out):
    row = next(r for r in (out / "task_il_main.md").read_text().splitlines() if "JOINT" in r)
    assert row.split("|")[4].strip() == "n/a"


def test_the_third_column_has_its_warning(out):
    assert "Tiny-ImageNet in 10 tasks of 20" in (out / "task_il_main.md").read_text().replace(
        "\n", " "
    )


def test_the_papers_number_is_next_to_ours_with_the_difference(comparison):
    er = line(comparison, scenario="task_il", dataset="cifar10", method="er", buffer=200)
    assert (er["paper_acc"], er["paper_plus_acc"]) == (86.36, 91.48)
    assert er["paper_gain"] == pytest.approx(5.12)
    assert er["difference"] == pytest.approx(er["our_acc"] - 86.36, abs=1e-5)
    assert er["paper_direction"] == "improves"


def test_joint_of_the_appendix_is_compared_with_the_main_task_il_row():
    cell = Paper(fake_results.PAPER).cell("task_il", "cifar10", "joint", 0, plus=False)
    assert cell is not None
    assert cell.acc_mean == 93.49  # the appendix's Task-IL table repeats 72.85 of Class-IL


def test_the_paper_has_97_of_108_plus_cells_above_their_base():
    paper = Paper(fake_results.PAPER)
    gains = [
        paper.gain(scenario, dataset, method, buffer)
        for scenario in ("task_il", "class_il")
        for dataset in ("cifar10", "cifar100", "mini_imagenet")
        for method in ("gem", "agem", "er", "mer", "derpp", "clser")
        for buffer in (200, 500, 1000)
    ]
    assert sum(gain.mean > 0 for gain in gains if gain is not None) == 97
    assert None not in gains


def test_a_data_set_the_paper_lacks_shows_a_dash(tmp_path):
    made = fake_results.demo()
    tables.build(made.results, fake_results.PAPER, tmp_path, layout=made.layout)
    rows = [r for r in (tmp_path / "comparison.md").read_text().splitlines() if "| ER |" in r]
    assert len(rows) == 4
    assert all(row.split("|")[5].strip() == "-" for row in rows)
    assert not (tmp_path / "task_il_appendix.tex").exists()  # no appendix buffers in the demo


def test_verdicts_follow_the_interval_and_agreement_the_decided_sign():
    up, flat = Estimate(5, 1.0, 0.5, 0.2, 1.8), Estimate(5, 1.0, 2.0, -0.5, 2.5)
    assert (direction(up), direction(flat), direction(None)) == ("improves", "undecided", "")
    assert printed_direction(Estimate(5, -0.1)) == "worsens"
    assert agreement("improves", "worsens") == "contradicts"
    assert agreement("improves", "improves") == "agrees"
    assert agreement("undecided", "improves") == "undecided"
    assert agreement("improves", "") == ""


def test_missing_runs_show_in_the_table_with_their_number(tmp_path):
    grid = fake_runs.Grid(methods=("er",), buffers=(50,), seeds=3, memories=(), thetas=())
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    gone = [path for path in paths if "dense" in str(path) and "seed0" not in str(path)]
    gone += [path for path in paths if "t0.8" in str(path)]
    for path in gone:
        path.unlink()
    left = [path for path in paths if path.exists()]
    collect.build(left, expected, tmp_path / "results", joint_bwt="not_applicable")
    layout = fake_runs.LAYOUT | {"main": [50], "methods": ["er"]}
    tables.build(tmp_path / "results", fake_results.PAPER, tmp_path / "out", layout=layout)
    text = (tmp_path / "out" / "task_il_main.md").read_text()
    assert re.search(r"\| 50 \| ER \| \d+\.\d\d \(n=1\)", text)
    assert "| 50 | **ER⁺** | missing | missing |" in text
    comparison = (tmp_path / "out" / "comparison.md").read_text()
    row = next(
        line.split(" | ") for line in comparison.splitlines() if line.startswith("| Task-IL")
    )
    assert re.fullmatch(r"\d+\.\d\d \(n=1\)", row[5])
    assert row[8] == "missing"


def test_the_papers_third_column_is_counted_once_next_to_two_data_sets():
    line = {"scenario": "task_il", "buffer": 200, "method": "er", "verdict": "improves"}
    line |= {"paper_direction": "improves"}
    names = ("cifar10", "mini_imagenet", "tiny_imagenet")
    said = counts(pd.DataFrame([line | {"dataset": name} for name in names]))
    assert said == (
        "Task-IL: of 3 ⁺ cells 3 improve, 0 worsen, 0 undecided; the paper's printed means rise in "
        "2 of 2."
    )


def test_a_layout_without_theta_is_refused_by_key():
    with pytest.raises(UserError, match=r"theta\.class_il"):
        Layout.of(fake_runs.LAYOUT | {"theta": {"task_il": 0.8}})


def test_results_of_two_backbones_need_a_choice():
    layout = Layout.of(fake_runs.LAYOUT)
    frame = pd.DataFrame({"dataset": ["digits"] * 2, "backbone": ["a", "b"]})
    with pytest.raises(UserError, match=r"several backbones \(a, b\)"):
        layout.backbone_of(frame, "digits")


def test_the_same_results_give_the_same_bytes(out, tmp_path):
    made = fake_results.small()
    tables.build(made.results, fake_results.PAPER, tmp_path, layout=made.layout)
    for path in out.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("suite", [fake_results.small, fake_results.demo])
def test_the_document_compiles_with_a_stock_article_class(suite, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed: texlive-latex-base and texlive-latex-recommended")
    made = suite()
    tables.build(made.results, fake_results.PAPER, tmp_path, layout=made.layout)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert (tmp_path / "all.pdf").stat().st_size > 10_000


def test_one_renderer_writes_any_table_in_every_form(tmp_path):
    numbers = pd.DataFrame({"x": [1.5, float("nan")], "cell": ["a/b", ""]})
    text = pd.DataFrame({"Name": ["5 %", "a|b"], "x": ["-1.50", "missing"]})
    made = Table(
        "mine", numbers, text, "Of two rows.", ["A note."], align="lr", links={"x": "cell"}
    )
    write(made, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mine.csv", "mine.html", "mine.md", "mine.tex",
    ]  # fmt: skip
    assert (tmp_path / "mine.csv").read_text() == "x,cell\n1.500000,a/b\n,\n"
    assert (tmp_path / "mine.md").read_text() == (
        "Of two rows.\n\n| Name | x |\n|---|---|\n| 5 % | -1.50 |\n| a\\|b | missing |\n\nA note.\n"
    )
    assert r"5 \% & $-$1.50 \\" in (tmp_path / "mine.tex").read_text()
    assert "<caption>Of two rows.</caption>" in (tmp_path / "mine.html").read_text()


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((1.2, 0.4, 2.1), "+1.20 points [+0.40, +2.10]"),
        ((-0.3, math.nan, math.nan), "−0.30 points"),
        ((math.nan, math.nan, math.nan), "-"),
    ],
)
def test_an_interval_is_written_in_one_way(numbers, said):
    assert interval(*numbers, "points") == said
    assert interval(*numbers) == said.replace(" points", "")
