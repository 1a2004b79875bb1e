"""The report as a file: whole, self-contained, escaped. Its behaviour: tests/report_browser."""

import html
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

import fake_results
import fake_specifications
from sharc.artifacts.files import read_json, write_json
from sharc.report import answer, page
from sharc.results.folder import Results
from sharc.stages import report
from sharc.tables import registry
from sharc.tables.render import Table

VOID = {"meta", "link", "br", "img", "input", "source"}


class Reader(HTMLParser):
    """Collects ids and addresses, and checks that elements close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.addresses, self.cells = [], [], [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        self.addresses += [found[name] for name in ("src", "href") if name in found]
        if "data-cell" in found:
            self.cells.append(found["data-cell"])
        if tag == "img" and "src" in found:  # the dialog's has neither before it opens
            assert found["alt"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text():
    return (fake_results.whole().root / "report.html").read_text()


@pytest.fixture(scope="module")
def read(text):
    reader = Reader()
    reader.feed(text)
    return reader


def test_elements_close_and_ids_are_unique(read):
    assert read.open == []
    assert len(set(read.ids)) == len(read.ids)


def test_a_table_says_which_buffers_it_shows(text):
    assert ">Task-IL, buffers 50 and 200</h3>" in text


def test_nothing_points_outside_the_file(text, read):
    for address in read.addresses:
        assert address.startswith(("#", "data:")), address
        if address.startswith("#"):
            assert address[1:] in read.ids
    assert not re.search(r"https?://", text)
    assert "default-src 'none'" in text


def test_every_cell_that_can_be_chosen_has_its_provenance(read):
    cells = Results(fake_results.demo().results).provenance
    assert read.cells
    assert set(read.cells) <= set(cells)


def test_the_embedded_provenance_holds_runs_scores_commit_and_data(text):
    found = re.search(r'id="provenance-data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    run = data["cells"]["digits/efficientnet_lite0/er/dense/b50"]["runs"][0]
    assert set(run["scores"]) == {"class_il", "task_il"}
    assert len(run["digest"]) == 64
    assert data["common"]["commit"] == "0123abc"
    assert data["common"]["data"]["digits"] == {"sha256": "feed"}


def test_a_cell_shows_the_commit_of_its_own_training(tmp_path):
    made = fake_results.whole()
    common = {"commit": "1, 2", "training": {"digits/efficientnet_lite0/er/bayes_pcn": "2"}}
    cells = json.loads(page.provenance(Results(made.results), common))["cells"]
    found = {name: cell["commit"] for name, cell in cells.items() if "/er/" in name}
    assert found["digits/efficientnet_lite0/er/bayes_pcn-t0.8/b50"] == "2"
    assert found["digits/efficientnet_lite0/er/dense/b50"] == "1, 2"


def test_without_costs_the_bytes_repeat_and_there_is_no_cost_section(tmp_path, read):
    made = fake_results.whole()
    for name in ("a", "b"):
        fake_results.write_report(made, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert 'id="cost"' not in (tmp_path / "a").read_text()
    assert "cost" in read.ids


def test_text_from_records_cannot_become_markup(tmp_path):
    made = fake_results.whole()
    evil = "</script><script>alert(1)</script>"
    results = tmp_path / "results"
    results.mkdir()
    for path in made.results.iterdir():
        (results / path.name).write_bytes(path.read_bytes())
    cells = read_json(results / "provenance.json")
    next(iter(cells.values()))["params"] = {"name": evil}
    write_json(results / "provenance.json", cells)
    assert "</script>" not in page.provenance(Results(results), {"note": evil})


def test_claims_tables_figures_and_deviations_are_all_there(text, read):
    claims = read_json(fake_results.whole().root / "claims.json")["claims"]
    assert {f"claim-{claim['id']}" for claim in claims} <= set(read.ids)
    assert {"table-task_il_main", "table-class_il_main", "figure-theta"} <= set(read.ids)
    assert text.count("data:image/svg+xml;base64,") == 9  # one of them for narrow screens
    for row in page.deviations():
        assert set(row) == {"topic", "paper", "here"}
    assert "not part of this suite" in text


def test_what_is_held_and_the_heads_have_sections_whose_numbers_lead_to_their_cells(text):
    for name, rows, link in (
        ("ledger", 24, "digits/efficientnet_lite0/er/bayes_pcn-t0.8/b50"),
        ("clser_heads", 8, "digits/efficientnet_lite0/clser/dense/b200"),
    ):
        section = text.split(f'<section id="{name}">')[1].split("</section>")[0]
        assert section.count("<tr>") == rows + 1
        assert f'data-cell="{link}"' in section
        assert f'<a href="#{name}">' in text


def test_a_new_table_is_one_entry_of_the_registry_and_has_its_section(tmp_path, monkeypatch):
    def counts(results, layout, paper):
        found = results.summary.groupby("method", as_index=False)["n"].sum()
        text = found.astype(str).set_axis(["Method", "Runs"], axis="columns")
        yield Table("counts", found, text, "All runs.", [], align="lr", title="Runs <per> method")

    monkeypatch.setattr(report, "OURS", (*registry.OURS, counts))
    fake_results.write_report(fake_results.whole(), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert '<a href="#counts">Runs &lt;per&gt; method</a>' in text
    section = text.split('<section id="counts">')[1].split("</section>")[0]
    assert "<h2>Runs &lt;per&gt; method</h2>" in section
    assert re.search(r"<tr><td>er</td><td class=\"number\">\d+</td></tr>", section)


def test_a_missing_run_is_announced(tmp_path):
    made = fake_results.whole()
    runs = (made.results / "runs.csv").read_text()
    results = tmp_path / "results"
    results.mkdir()
    for path in made.results.iterdir():
        (results / path.name).write_bytes(path.read_bytes())
    (results / "runs.csv").write_text(runs.replace("task_il,ok", "task_il,diverged", 2))
    root = made.root
    report.build(
        results, root / "tables", root / "figures", root / "claims.json", tmp_path / "r.html",
        layout=made.layout, suite={}, provenance={},
    )  # fmt: skip
    assert "2 of 260 planned runs are missing" in (tmp_path / "r.html").read_text()
    assert "All 260 runs completed." in (root / "report.html").read_text()


def first_screen(text):
    return text.split("<header>")[1].split("</header>")[0]


def test_the_first_screen_says_what_was_run_the_answer_and_shows_the_gains(text):
    first = first_screen(text)
    assert "6 replay methods with and without SHARC on S-Digits, buffers of 50 and 200" in first
    said = re.findall(r"<p>(.*?)</p>", first.split('id="answer"')[1])
    assert [sentence.split(",")[0] for sentence in said] == [
        "In Task-IL", "In Class-IL", said[2].split(",")[0],
    ]  # fmt: skip
    assert said[2].startswith("Of the paper&#39;s ")
    assert 'id="figure-gains"' in first
    assert text.count('id="figure-gains"') == 1


def test_the_answer_counts_what_the_comparison_says():
    made = fake_results.whole()
    compared = page.read_comparison(made.root / "tables")
    claims = {"claims": [{"verdict": "reproduced"}, {"verdict": "undecided"},
                         {"verdict": "not tested by this suite"}]}  # fmt: skip
    task_il, _, last = answer.sentences(Results(made.results), compared, claims)
    here = compared[(compared["scenario"] == "task_il") & compared["gain"].notna()]
    counts = here["verdict"].value_counts()
    expected = f"{counts['improves']} improve, {counts.get('worsens', 0)} worsen"
    assert f"of {len(here)} comparisons of a method with and without SHARC, {expected}" in task_il
    assert f"is +{here['gain'].mean():.2f} points (95 % interval" in task_il
    assert last == (
        "Of the paper's 2 sentences that this suite tests, 1 are reproduced, 0 are not and 1 are "
        "undecided."
    )
    task_il, *_ = answer.sentences(Results(made.results), compared.assign(method="mine"), claims)
    assert f"with and without SHARC, your own included, {expected}" in task_il


def test_an_answer_from_elsewhere_takes_the_place_of_the_suites_own(tmp_path):
    given = ["It depends <on> the choices."]
    fake_results.write_report(fake_results.whole(), tmp_path / "r.html", answer=given)
    first = first_screen((tmp_path / "r.html").read_text())
    assert "It depends &lt;on&gt; the choices." in first
    assert "comparisons of a method" not in first


def test_a_column_without_an_entry_is_not_shown_and_the_section_has_another_name(text):
    section = text.split('<section id="comparison">')[1].split("</section>")[0]
    assert "<h2>Gains in detail</h2>" in section
    heads = re.findall(r'<button type="button">([^<]+)</button></th>', section)
    assert heads == [
        "Scenario", "Data set", "Buffer", "Method", "Ours", "Ours ⁺", "Our gain [95 %]",
        "Our verdict",
    ]  # fmt: skip
    assert ">Compared with the paper<" not in text


def test_claims_that_were_not_tested_are_folded_away(text):
    tested, untested = text.split('<details id="untested">')
    assert 'data-verdict="not tested by this suite"' not in tested
    folded = untested.split("</section>")[0]
    rows = re.findall(r'<tr role="row" data-verdict="([^"]+)"', folded)
    assert set(rows) == {"not tested by this suite"}
    assert f"<summary>{len(rows)} not tested by this suite</summary>" in folded


def test_every_figure_carries_its_numbers(text):
    for name in ("gains", "theta", "curves_digits_task_il"):
        figure = text.split(f'<figure id="figure-{name}"')[1].split("</figure>")[0]
        (data,) = re.findall(r'href="data:text/csv;charset=utf-8,([^"]+)"', figure)
        written = (fake_results.whole().root / "figures" / f"{name}.csv").read_text()
        assert unquote(data) == written


def test_specifications_have_a_section_with_their_answer_first(tmp_path):
    found = fake_specifications.built()
    for name in found.glob("*.pdf"):  # not committed, and not needed
        assert not name.with_suffix(".svg").exists()
    index = read_json(found / "index.json")
    fake_results.write_report(
        fake_results.whole(), tmp_path / "r.html", specifications=found, power=found
    )
    text = html.unescape((tmp_path / "r.html").read_text())
    first = first_screen(text).split('id="answer"')[1]
    assert re.findall(r"<p>(.*?)</p>", first)[:3] == index["answer"]
    section = text.split('<section id="specifications">')[1].split("</section>")[0]
    assert section.count("<figure") == 7
    assert section.count("data:image/png") == 2 * 7  # wide and narrow
    for sentence in (*index["sentences"], *index["flips"]):
        assert sentence in section
    assert section.count(index["power"][0]) == 2
    effects = section.split('id="table-effects"')[1].split("</table>")[0]
    assert effects.count("<tr>") == 1 + 4  # its heads, and each value but the defaults
    claims = text.split('<section id="claims">')[1].split("</section>")[0]
    said = {claim["id"]: claim["text"] for claim in index["claims"]}
    assert f"<b>Across specifications:</b> {said['class-il-most']}" in claims
    assert '<a href="#specifications">' in text
