"""Figures: which are drawn, what they say, how they are stored."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import fake_results
import fake_runs
from sharc.errors import UserError
from sharc.plots import canvas, held, memories, theta
from sharc.plots.canvas import Drawing, Omitted
from sharc.plots.motivation import channels_last
from sharc.results import labels
from sharc.results.frames import Results
from sharc.results.layout import Layout
from sharc.stages import collect, figures


@pytest.fixture(scope="module")
def out():
    return fake_results.whole().root / "figures"


@pytest.fixture(scope="module")
def index(out):
    return json.loads((out / "index.json").read_text())


def drawn(module, made):
    with canvas.styled():
        return list(module.draw(Results(made.results), Layout.of(made.layout)))


def test_the_demo_draws_its_figures_and_names_the_one_it_cannot(index):
    assert [figure["name"] for figure in index["figures"]] == [
        "figure1", "curves_digits_task_il", "curves_digits_class_il", "memories", "theta", "held",
        "recall",
    ]  # fmt: skip
    assert [figure["name"] for figure in index["omitted"]] == ["paper_against_ours"]
    assert "no numbers" in index["omitted"][0]["reason"]


def test_every_figure_has_a_caption_and_two_files_and_its_png_is_small(out, index):
    for figure in index["figures"]:
        assert len(figure["caption"]) > 60
        assert figure["files"] == [f"{figure['name']}.png", f"{figure['name']}.pdf"]
        assert (out / figure["files"][0]).stat().st_size < 300_000
        with Image.open(out / figure["files"][0]) as image:
            assert image.width >= 500


def test_files_hold_no_date_and_no_tool_and_fonts_are_embedded(out):
    pdf = (out / "theta.pdf").read_bytes()
    assert not re.search(rb"CreationDate|Producer|Creator|ModDate", pdf)
    assert b"/FontFile2" in pdf  # TrueType, embedded
    with Image.open(out / "theta.png") as image:
        assert "Software" not in image.info


def test_the_same_results_give_the_same_bytes(out, tmp_path):
    made = fake_results.demo()
    with canvas.styled():
        for module in (theta, memories):
            for drawing in module.draw(Results(made.results), Layout.of(made.layout)):
                for name in canvas.save(drawing, tmp_path):
                    assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_curves_are_solid_with_sharc_and_dotted_without_and_sgd_is_there():
    from sharc.plots import curves

    drawing = drawn(curves, fake_results.demo())[0]
    assert isinstance(drawing, Drawing)
    panel = drawing.figure.axes[0]
    lines = {line.get_label(): line.get_linestyle() for line in panel.get_lines()}
    assert lines == {"SGD": "--", "GEM": ":", "GEM⁺": "-"}
    assert "θ = 0.8" in drawing.caption


def test_a_method_whose_runs_all_failed_keeps_its_panel_and_says_so(tmp_path):
    from sharc.plots import curves

    grid = fake_runs.Grid(methods=("er", "mer"), buffers=(50,), seeds=2, memories=(), thetas=())
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    left = [path for path in paths if "/mer/" not in str(path)]
    collect.build(left, expected, tmp_path / "results", joint_bwt="not_applicable")
    layout = fake_runs.LAYOUT | {"main": [50], "methods": ["er", "mer"]}
    made = fake_results.Made(tmp_path, layout)
    drawing = drawn(curves, made)[0]
    assert isinstance(drawing, Drawing)
    said = {axes.get_title(): [t.get_text() for t in axes.texts] for axes in drawing.figure.axes}
    assert said == {"ER": [], "MER": ["no run ended well"]}


def test_the_points_of_the_theta_figure_are_the_means_of_the_cells():
    drawing = drawn(theta, fake_results.demo())[0]
    assert isinstance(drawing, Drawing)
    summary = Results(fake_results.demo().results).summary
    cell = summary[
        (summary["method"] == "er")
        & (summary["variant"] == "bayes_pcn-t0.9")
        & (summary["buffer"] == 50)
        & (summary["scenario"] == "task_il")
    ]
    points = [line.get_xydata() for line in drawing.figure.axes[0].get_lines()]
    assert any(
        np.allclose(point, [0.9, cell["acc_mean"].iloc[0]]) for line in points for point in line
    )


@pytest.mark.parametrize("module", [theta, held, memories])
def test_sgd_stands_in_every_task_il_panel(module):
    drawing = drawn(module, fake_results.demo())[0]
    assert isinstance(drawing, Drawing)
    panels = [axes for axes in drawing.figure.axes if "Task-IL" in axes.get_title()]
    assert panels
    for panel in panels:
        assert any(line.get_color() == canvas.COLOURS["sgd"] for line in panel.get_lines())


def test_pooled_storage_stands_beside_the_memories_though_it_masks_nothing():
    published = Results(Path(__file__).parents[1] / "results" / "demo")
    with canvas.styled():
        (drawing,) = memories.draw(published, Layout.of(fake_runs.LAYOUT))
    assert isinstance(drawing, Drawing)
    for panel, scenario, method in zip(
        drawing.figure.axes, ("class_il", "task_il"), ("gem", "er"), strict=True
    ):
        rows = [label.get_text() for label in panel.get_yticklabels()]
        assert sorted(rows) == sorted(labels.MEMORIES.values())
        cell = f"method == '{method}' and scenario == '{scenario}' and variant == 'pooled-t0'"
        (expected,) = published.summary.query(cell)["acc_mean"]
        shown = [line.get_xdata()[0] for line in panel.get_lines()]
        assert expected in shown


def test_a_suite_without_a_sweep_omits_the_figure_with_its_reason():
    drawing = drawn(theta, fake_results.small())[0]
    assert isinstance(drawing, Omitted)
    assert "does not sweep" in drawing.reason


def test_every_method_differs_from_every_other_by_marker_and_by_colour():
    for table in (canvas.MARKERS, canvas.COLOURS, canvas.MEMORY_COLOURS, canvas.MEMORY_MARKERS):
        assert len(set(table.values())) == len(table)


def test_images_of_either_order_and_type_become_floats_with_channels_last():
    whole = np.full((2, 3, 4, 5), 255, np.uint8)
    assert channels_last(whole).shape == (2, 4, 5, 3)
    assert channels_last(whole).max() == 1.0
    assert channels_last(np.zeros((2, 4, 5, 3), np.float32)).shape == (2, 4, 5, 3)
    assert channels_last(np.zeros((2, 1, 4, 5), np.float32)).shape == (2, 4, 5, 3)


def test_a_figure_1_without_its_images_is_an_error_that_names_the_file(tmp_path):
    made = fake_results.demo()
    folder = shutil.copytree(fake_results.figure1(made.root), tmp_path / "figure1")
    (folder / "examples.safetensors").unlink()
    with pytest.raises(UserError, match=r"examples\.safetensors does not exist"):
        figures.build(
            made.results, fake_results.PAPER, folder, tmp_path / "out", layout=made.layout
        )


def test_drawing_leaves_the_callers_settings_alone():
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    with canvas.styled():
        assert mpl.rcParams["pdf.fonttype"] == 42
    assert mpl.rcParams["font.size"] == before
