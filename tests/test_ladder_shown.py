"""The ladder: its figure, its bytes, its section of the report."""

import pytest
from PIL import Image

import fake_ladder
import fake_results
from fake_ladder import SMALL, frame_of, worked
from sharc.artifacts.files import read_json, write_json
from sharc.figures import ladder as plot
from sharc.figures import style
from sharc.results.ladder_plan import LadderPlan
from sharc.stages import ladder
from sharc.tables import ladder_words
from test_report import Reader


@pytest.fixture(scope="module")
def made():
    return fake_ladder.built()


def test_the_figure_is_small_and_has_a_panel_per_data_set_and_scenario(made):
    assert (made / "ladder.png").stat().st_size < 300_000
    with Image.open(made / "ladder.png") as image:
        assert image.width >= 1000
    assert b"CreationDate" not in (made / "ladder.pdf").read_bytes()


def test_sharc_is_solid_and_the_paper_is_a_line_through_every_panel(tmp_path):
    with style.styled():
        drawn = plot.draw(frame_of(worked(tmp_path)), LadderPlan.of(SMALL))
    panel = drawn.figure.axes[1]
    assert panel.get_title() == "S-CIFAR-10, Class-IL"
    lines = panel.get_lines()
    upright = [line for line in lines if list(line.get_ydata()) == [0, 1]]  # axes fractions
    assert [(line.get_xdata()[0], line.get_linestyle()) for line in upright] == [
        (29.35, ":"), (33.94, "-"),
    ]  # fmt: skip
    names = [text.get_text() for text in drawn.figure.axes[0].get_yticklabels()]
    assert names[0] == "printed in the paper"
    assert names[2] == "BatchNorm statistics\nof each batch, drifting → frozen"


def test_the_same_records_give_the_same_bytes_in_any_order(tmp_path):
    paths = worked(tmp_path / "runs")
    for name, order in (("a", paths), ("b", paths[::-1])):
        ladder.build(order, fake_results.PAPER, tmp_path / name, layout=SMALL)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    endings = ("csv", "md", "pdf", "png", "svg")
    assert names == ["index.json", *(f"ladder.{ending}" for ending in endings)]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_every_switch_of_the_ladder_has_words_and_a_new_one_keeps_its_name():
    for name, before, after in fake_ladder.SWITCHES:
        assert ladder_words.switch(name) != name
        assert {before, after}.isdisjoint({ladder_words.value(name, v) for v in (before, after)})
    assert ladder_words.switch("brand_new") == "brand_new"
    assert ladder_words.change("mer_gamma", 1.0, 0.5) == "1 → 0.5"


def test_the_report_shows_the_ladder_when_there_is_one_and_nothing_otherwise(tmp_path, made):
    whole = fake_results.whole()
    fake_results.write_report(whole, tmp_path / "with.html", ladder=made)
    fake_results.write_report(whole, tmp_path / "without.html")
    text = (tmp_path / "with.html").read_text()
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)
    assert {"ladder", "figure-ladder", "table-ladder-cifar10"} <= set(reader.ids)
    assert "#ladder" in reader.addresses
    assert "read: joint_adam → collapsed" in text
    without = Reader()
    without.feed((tmp_path / "without.html").read_text())
    assert not [name for name in without.ids if "ladder" in name]
    assert "#ladder" not in without.addresses


def test_the_report_escapes_what_the_ladder_says(tmp_path, made):
    folder = tmp_path / "ladder"
    folder.mkdir()
    for path in made.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    index = read_json(folder / "index.json")
    write_json(folder / "index.json", index | {"sentences": ["<script>alert(1)</script>"]})
    fake_results.write_report(fake_results.whole(), tmp_path / "r.html", ladder=folder)
    assert "<script>alert(1)" not in (tmp_path / "r.html").read_text()
