"""docs/results.md says what the committed results say."""

import gzip

import published

from sharc.results import verdicts

PAGE = published.page("docs/results.md")


def test_the_table_is_that_of_the_committed_results():
    table = published.table()
    assert table in (published.ROOT / "docs/results.md").read_text(), f"it should be\n{table}"


def test_the_summary_is_that_of_the_committed_comparison():
    summary = (published.OFFLINE / "comparison.md").read_text().splitlines()[0]
    assert summary in PAGE


def test_the_controls_are_those_of_the_committed_results():
    zeros, recalled = (
        published.acc("er", "task_il", f"{memory}-t0.8") for memory in ("none", "bayes_pcn")
    )
    assert f"about as good for ER in Task-IL ({zeros:.1f} against {recalled:.1f})" in PAGE
    pooled = [published.acc(method, "class_il", "pooled-t0") for method in ("er", "gem")]
    plus = [published.acc(method, "class_il", "bayes_pcn-t0.5") for method in ("er", "gem")]
    bytes_of = [
        published.acc("er", "class_il", variant, "total_bytes")
        for variant in ("bayes_pcn-t0.5", "pooled-t0")
    ]
    assert (
        f"reaches {pooled[0]:.1f} (ER) and {pooled[1]:.1f} (GEM) in Class-IL where SHARC reaches "
        f"{plus[0]:.1f} and {plus[1]:.1f} and holds {bytes_of[0] / bytes_of[1]:.1f} times the bytes"
    ) in PAGE


def test_cls_ers_stable_head_is_below_sgd_as_the_page_says():
    stable, sgd = published.acc("clser", "task_il"), published.acc("sgd", "task_il")
    assert f"below SGD in Task-IL on CIFAR-100 ({stable:.1f} against {sgd:.1f})" in PAGE


def test_gains_and_losses_on_cifar_10_are_counted_right():
    found = published.verdicts()
    cells = sum(count for (dataset, _), count in found.items() if dataset == "cifar10")
    up, down = found["cifar10", verdicts.IMPROVES], found["cifar10", verdicts.WORSENS]
    assert f"Of CIFAR-10's {cells} cells, {up} improve and {down} worsen." in PAGE


def test_the_claims_are_counted_right():
    found = published.claims()
    assert (
        f"checks {found.total()} sentences of the paper: {found[verdicts.REPRODUCED]} reproduced, "
        f"{found[verdicts.NOT_REPRODUCED]} not, {found[verdicts.UNDECIDED]} undecided"
    ) in PAGE


def test_the_number_of_runs_is_that_of_the_committed_results():
    with gzip.open(published.OFFLINE / "runs.csv.gz", "rt") as table:
        lines = table.read().splitlines()
    assert f"{(len(lines) - 1) // 2} runs of the suite `offline`" in PAGE  # one line per scenario


def test_batchnorms_part_is_that_of_the_ladders_page():
    ladder = published.page("docs/ladder.md")
    assert "BatchNorm statistics (of each batch, drifting → frozen): +23.8 points" in ladder
    assert f"worth {23.8:.0f} points of Class-IL" in PAGE
