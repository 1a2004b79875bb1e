"""Memory held, the base with as many bytes, and CLS-ER's heads: worked by hand."""

import pandas as pd
import pytest

import fake_results
import fake_runs
from sharc.results.equal_bytes import equal_base
from sharc.results.folder import Results
from sharc.results.footprint import ledger
from sharc.results.layout import Layout
from sharc.results.summary import summarise
from sharc.results.tidy import HEAD_COLUMNS, RUN_COLUMNS
from sharc.stages import tables
from sharc.tables import clser_heads, footprint, latex, registry

LAYOUT = Layout.of(fake_runs.LAYOUT | {"main": [50, 100, 200], "methods": ["er"]})
PLUS = "bayes_pcn-t0.8"  # of Task-IL
WHERE = ("task_il", "digits", "er")


def cell(variant, buffer, items, held, acc, method="er"):
    """Runs of one cell in Task-IL, one per ACC; None is a run that failed."""
    shared = {"dataset": "digits", "backbone": "b", "method": method, "variant": variant}
    sizes = {"items": items, "counted_floats": 1e6, "total_bytes": held}
    return [
        shared | {"buffer": buffer, "seed": seed, "scenario": "task_il", "acc": value}
        | ({"status": "failed"} if value is None else {"status": "ok", **sizes})
        for seed, value in enumerate(acc)
    ]  # fmt: skip


def results(folder, *cells, heads=()):
    runs = pd.DataFrame([run for one in cells for run in one], columns=list(RUN_COLUMNS))
    runs.to_csv(folder / "runs.csv", index=False)
    summarise(runs).to_csv(folder / "summary.csv", index=False)
    pd.DataFrame(heads, columns=list(HEAD_COLUMNS)).to_csv(folder / "heads.csv", index=False)
    return Results(folder)


def shown(frame):
    """The only row's text."""
    (row,) = footprint.readable(frame).to_dict("records")
    return row


def test_the_base_with_as_many_bytes_is_found_at_another_buffer(tmp_path):
    found = results(
        tmp_path,
        cell("dense", 50, 50, 5e6, [70] * 5),
        cell("dense", 100, 100, 10e6, [80, 81, 82, 80, 81]),
        cell("dense", 200, 200, 20e6, [90] * 5),
        cell(PLUS, 50, 250, 10.2e6, [78, 80, 79, 79, 78]),
    )
    base = equal_base(found, LAYOUT, *WHERE, 50)
    assert base is not None
    assert (base.buffer, base.cell) == (100, "digits/b/er/dense/b100")
    assert base.ratio == pytest.approx(1.02)
    assert base.gain == {0: -2, 1: -1, 2: -3, 3: -1, 4: -3}
    line = ledger(found, LAYOUT).iloc[0]
    assert (line["gain"], line["gain_n"], line["verdict"]) == (-2, 5, "worsens")


@pytest.mark.parametrize(
    ("held", "buffer"), [(9.49e6, None), (9.51e6, 100), (10.49e6, 100), (10.51e6, None)]
)
def test_equal_means_within_five_percent(tmp_path, held, buffer):
    base, plus = cell("dense", 100, 100, 10e6, [80, 81]), cell(PLUS, 50, 250, held, [78, 80])
    found = equal_base(results(tmp_path, base, plus), LAYOUT, *WHERE, 50)
    assert (found and found.buffer) == buffer


def test_of_two_bases_within_reach_the_nearer_counts(tmp_path):
    found = results(
        tmp_path,
        cell("dense", 50, 50, 9.6e6, [80, 80]),
        cell("dense", 100, 100, 10.1e6, [80, 80]),
        cell("dense", 200, 200, 10.3e6, [80, 80]),
        cell(PLUS, 50, 250, 10e6, [81, 81]),
    )
    base = equal_base(found, LAYOUT, *WHERE, 50)
    assert base is not None
    assert base.buffer == 100


def test_a_base_whose_runs_all_failed_equals_none(tmp_path):
    lost = cell("dense", 100, 0, 0, [None, None])
    found = results(tmp_path, lost, cell(PLUS, 100, 500, 10e6, [78, 80]))
    assert equal_base(found, LAYOUT, *WHERE, 100) is None
    row = shown(ledger(found, LAYOUT))
    assert (row["Samples"], row["MB"], row["In all"]) == ("missing",) * 3
    assert (row["Samples ⁺"], row["MB ⁺"], row["Equal base"]) == ("500", "10.00", "none")


def test_a_plus_whose_runs_all_failed_is_missing_and_one_not_planned_a_dash(tmp_path):
    base = cell("dense", 100, 100, 10e6, [80, 81])
    row = shown(ledger(results(tmp_path, base, cell(PLUS, 100, 0, 0, [None, None])), LAYOUT))
    assert (row["MB ⁺"], row["Per sample"], row["Equal base"]) == ("missing",) * 3
    row = shown(ledger(results(tmp_path, base), LAYOUT))
    assert (row["MB"], row["MB ⁺"], row["Per sample"], row["Equal base"]) == ("10.00", *"---")


def test_per_sample_the_associative_memory_is_shared_out(tmp_path):
    base, plus = cell("dense", 50, 50, 5e6, [80, 81]), cell(PLUS, 50, 250, 15e6, [78, 80])
    line = ledger(results(tmp_path, base, plus), LAYOUT).iloc[0]
    assert line["bytes_ratio"] == pytest.approx(3)  # 15 MB over 5 MB
    assert line["sample_ratio"] == pytest.approx(0.6)  # 60 kB over 100 kB


def test_a_seed_that_one_side_lacks_shortens_the_gain_and_is_said(tmp_path):
    base = cell("dense", 100, 100, 10e6, [80, 81, None])
    plus = cell(PLUS, 50, 250, 10e6, [81, 82, 99])
    row = shown(ledger(results(tmp_path, base, plus), LAYOUT).query("buffer == 50"))
    assert row["Gain over it [95 %]"] == "+1.00 [+1.00, +1.00] (n=2)"


def test_the_summary_counts_rows_ratios_and_verdicts(tmp_path):
    found = results(
        tmp_path,
        cell("dense", 50, 50, 5e6, [70, 70]),
        cell("dense", 100, 100, 10e6, [80, 80]),
        cell(PLUS, 50, 250, 10e6, [79, 79]),
        cell(PLUS, 100, 500, 15e6, [85, 85]),
    )
    said = footprint.summary(ledger(found, LAYOUT))
    assert "holds 1.50 to 2.00 times as many bytes as its base in total, 0.30 to 0.40 times" in said
    assert "Of 2 ⁺ cells, 1 can be compared with a base that holds as many bytes: 0 im" in said


def heads_of(variant, buffer, **acc):
    shared = {"dataset": "digits", "backbone": "b", "method": "clser", "scenario": "task_il"}
    return [
        shared | {"variant": variant, "buffer": buffer, "head": head, "seed": seed, "acc": value}
        for head, values in acc.items()
        for seed, value in enumerate(values)
    ]


def clser(folder, *cells, heads):
    layout = Layout.of(fake_runs.LAYOUT | {"main": [50], "methods": ["clser"]})
    return next(clser_heads.tables(results(folder, *cells, heads=heads), layout, None), None)


def test_the_head_that_is_not_listed_apart_is_the_one_of_the_tables(tmp_path):
    base = cell("dense", 50, 50, 5e6, [70, 72], method="clser")
    made = clser(tmp_path, base, heads=heads_of("dense", 50, stable=[60, 62], plastic=[50, 52]))
    assert made is not None
    (row,) = made.text.to_dict("records")
    assert row["Working (in the tables)"] == "71.00 ± 1.41"
    assert (row["Stable"], row["Plastic"]) == ("61.00 ± 1.41", "51.00 ± 1.41")
    assert made.numbers.iloc[0]["in_tables"] == "working"
    assert "show the working one" in made.caption


def test_heads_of_lost_runs_are_missing_and_fewer_seeds_are_said(tmp_path):
    base = cell("dense", 50, 50, 5e6, [70, None, None], method="clser")
    plus = cell(PLUS, 50, 250, 9e6, [None, None, None], method="clser")
    made = clser(tmp_path, base, plus, heads=heads_of("dense", 50, working=[60], plastic=[50]))
    assert made is not None
    dense, sharc = made.text.to_dict("records")
    assert (dense["Working"], dense["Stable (in the tables)"]) == ("60.00 (n=1)", "70.00 (n=1)")
    assert sharc["Model"] == "CLS-ER⁺"
    assert [sharc[head] for head in made.links] == ["missing"] * 3


def test_a_suite_without_clser_has_no_table_of_heads_and_one_without_buffers_no_ledger(tmp_path):
    made = fake_results.small()
    found = registry.tables(Results(made.results), Layout.of(made.layout), which=registry.OURS)
    assert [one.name for one in found] == ["ledger"]
    naive = fake_runs.LAYOUT | {"methods": ["sgd"]}
    assert registry.tables(results(tmp_path), Layout.of(naive), which=registry.OURS) == []


def test_both_come_in_four_forms_and_stand_in_the_document(tmp_path):
    made = fake_results.demo()
    tables.build(made.results, fake_results.PAPER, tmp_path, layout=made.layout)
    document = (tmp_path / "all.tex").read_text()
    for name, rows in (("ledger", 24), ("clser_heads", 8)):
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) == rows
        assert (tmp_path / f"{name}.html").read_text().count("<tr>") == rows + 1
        assert (tmp_path / f"{name}.md").read_text().count("\n| ") == rows + 1
        assert r"\toprule" in (tmp_path / f"{name}.tex").read_text()
        assert f"\\input{{{name}}}" in document


def test_a_new_data_set_or_scenario_is_set_apart_in_latex(tmp_path):
    text = pd.DataFrame({"A": ["x", "x", "x"], "B": ["one", "two", "two"], "n": ["1", "2", "3"]})
    made = latex.over_pages("l", text, "caption", [], "llr")
    lines = [row for row in made.splitlines() if "x &" in row]
    assert [row.startswith(r"\addlinespace") for row in lines] == [False, True, False]
