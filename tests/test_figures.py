"""Figures: which are drawn, what they say, how they are stored."""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import fake_results
import fake_runs
from sharc.errors import UserError
from sharc.figures import (
    curves,
    figure1,
    footprint,
    gains,
    memories,
    paper_vs_ours,
    recall_error,
    style,
    theta,
)
from sharc.figures.left_out import left_out
from sharc.figures.ranges import beyond_a_gap, far_below
from sharc.figures.style import Drawing, Omitted
from sharc.results import labels
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper
from sharc.stages import collect, figures


@pytest.fixture(scope="module")
def out():
    return fake_results.whole().root / "figures"


@pytest.fixture(scope="module")
def index(out):
    return json.loads((out / "index.json").read_text())


def drawn(module, made):
    with style.styled():
        return list(module.draw(Results(made.results), Layout.of(made.layout)))


def test_the_demo_draws_its_figures_and_names_the_one_it_cannot(index):
    assert [figure["name"] for figure in index["figures"]] == [
        "gains", "figure1", "curves_digits_task_il", "curves_digits_class_il", "memories", "theta",
        "held", "recall",
    ]  # fmt: skip
    assert [figure["name"] for figure in index["omitted"]] == ["paper_against_ours"]
    assert "no numbers" in index["omitted"][0]["reason"]


def test_every_figure_has_a_caption_and_its_numbers_and_its_png_is_small(out, index):
    for figure in index["figures"]:
        assert len(figure["caption"]) > 60
        name = figure["name"]
        narrow = [f"{name}_narrow.svg"] if name == "gains" else []
        made = [f"{name}.png", f"{name}.pdf", f"{name}.svg", *narrow, f"{name}.csv"]
        assert figure["files"] == made
        assert len(pd.read_csv(out / f"{name}.csv")) > 1
        assert (out / figure["files"][0]).stat().st_size < 300_000
        with Image.open(out / figure["files"][0]) as image:
            assert image.width >= 500


def test_files_hold_no_date_and_no_tool_and_fonts_are_embedded(out):
    pdf = (out / "theta.pdf").read_bytes()
    assert not re.search(rb"CreationDate|Producer|Creator|ModDate", pdf)
    assert b"/FontFile2" in pdf  # TrueType, embedded
    with Image.open(out / "theta.png") as image:
        assert "Software" not in image.info
    svg = (out / "theta.svg").read_text()
    assert not re.search(r"metadata|dc:date|Matplotlib", svg)


def test_the_same_results_give_the_same_bytes(out, tmp_path):
    made = fake_results.demo()
    with style.styled():
        for module in (theta, memories):
            for drawing in module.draw(Results(made.results), Layout.of(made.layout)):
                for name in style.save(drawing, tmp_path):
                    assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_curves_are_solid_with_sharc_and_dotted_without_and_sgd_is_there():
    drawing = drawn(curves, fake_results.demo())[0]
    assert isinstance(drawing, Drawing)
    panel = drawing.figure.axes[0]
    lines = {line.get_label(): line.get_linestyle() for line in panel.get_lines()}
    assert lines == {"SGD": "--", "GEM": ":", "GEM⁺": "-"}
    assert "θ = 0.8" in drawing.caption


def test_a_method_whose_runs_all_failed_keeps_its_panel_and_says_so(tmp_path):
    grid = fake_runs.Grid(methods=("er", "mer"), buffers=(50,), seeds=2, memories=(), thetas=())
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    left = [path for path in paths if "/mer/" not in str(path)]
    collect.build(left, expected, tmp_path / "results", joint_bwt="not_applicable")
    layout = fake_runs.LAYOUT | {"main": [50], "methods": ["er", "mer"]}
    made = fake_results.Made(tmp_path, layout)
    drawing = drawn(curves, made)[0]
    assert isinstance(drawing, Drawing)
    said = {axes.get_title(): [t.get_text() for t in axes.texts] for axes in drawing.figure.axes}
    assert said == {"ER": [], "MER": ["all runs failed"]}
    assert drawing.caption.endswith(
        " Left out, because all their runs failed: MER on S-Digits, buffer 50; "
        "MER⁺ (BayesPCN, θ = 0.8) on S-Digits, buffer 50."
    )


@pytest.mark.parametrize("module", [curves, memories, theta, footprint, recall_error, gains])
def test_a_figure_names_the_cell_that_it_leaves_out_and_only_then(module):
    made = fake_results.demo()
    whole, layout = Results(made.results), Layout.of(made.layout)

    def captions(summary):
        found = SimpleNamespace(
            summary=summary, runs=whole.runs, curves=whole.curves, recall=whole.recall,
            seeds=whole.seeds, provenance=whole.provenance,
        )  # fmt: skip
        arguments = [Paper(fake_results.PAPER)] if module is gains else []
        with style.styled():
            drawings = list(module.draw(found, layout, *arguments))
        return " ".join(one.caption for one in drawings if isinstance(one, Drawing))

    assert "Left out" not in captions(whole.summary)
    lost = (whole.summary["method"] == "er") & (whole.summary["variant"] == "bayes_pcn-t0.8")
    summary = whole.summary.copy()
    summary["n_missing"] = summary["n_missing"].where(~lost, summary["n"])
    summary["n"] = summary["n"].where(~lost, 0)
    said = captions(summary)
    assert "failed: ER⁺ (BayesPCN, θ = 0.8) on S-Digits, buffer 50" in said


def test_a_caption_names_six_lost_cells_and_counts_the_others():
    cells = pd.DataFrame(
        {"method": "er", "variant": "dense", "dataset": "digits", "buffer": [0, *range(50, 58)],
         "n": 0, "n_missing": 5}
    )  # fmt: skip
    assert left_out(cells).startswith(
        " Left out, because all their runs failed: ER on S-Digits; ER on S-Digits, buffer 50;"
    )
    assert left_out(cells).endswith("buffer 54 and 3 more.")
    assert left_out(cells.assign(n=1)) == ""
    assert left_out(cells.assign(n_missing=0)) == ""


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


@pytest.mark.parametrize("module", [theta, footprint, memories])
def test_sgd_stands_in_every_task_il_panel(module):
    drawing = drawn(module, fake_results.demo())[0]
    assert isinstance(drawing, Drawing)
    panels = [axes for axes in drawing.figure.axes if "Task-IL" in axes.get_title()]
    assert panels
    for panel in panels:
        assert any(line.get_color() == style.COLOURS["sgd"] for line in panel.get_lines())


def test_pooled_storage_is_drawn_with_the_memories_though_it_masks_nothing():
    published = Results(Path(__file__).parents[1] / "results" / "demo")
    with style.styled():
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
    for table in (style.MARKERS, style.COLOURS, style.MEMORY_COLOURS, style.MEMORY_MARKERS):
        assert len(set(table.values())) == len(table)


def test_far_below_is_who_would_more_than_double_the_height_of_the_others():
    others = {"gem": (85.0, 95.0), "er": (86.0, 95.0), "mer": (87.0, 94.0)}
    assert far_below(others | {"clser": (74.0, 95.0)}) == ["clser"]  # 21 of height, not 10
    assert far_below(others | {"clser": (76.0, 95.0)}) == []  # 19
    low = {"clser": (40.0, 50.0), "agem": (45.0, 50.0)}
    assert far_below(others | low) == ["clser", "agem"]
    assert far_below(low | {"gem": (85.0, 95.0)}) == []  # two of three are the many
    assert far_below({}) == []
    alike = {"gem": (99.5, 100.0), "er": (99.2, 100.0), "mer": (99.5, 100.0)}
    assert far_below(alike | {"clser": (97.0, 100.0)}) == []  # 3 points: not twice 2


def test_a_gap_parts_methods_only_if_it_is_wider_than_what_the_others_span():
    others = {"gem": (90.0, 94.0), "er": (91.0, 93.0)}
    assert beyond_a_gap(others | {"clser": (70.0, 85.0)}) == ["clser"]  # 5 of gap, 4 of span
    assert beyond_a_gap(others | {"clser": (70.0, 87.0)}) == []
    assert beyond_a_gap({"gem": (100.0, 100.0), "er": (100.0, 100.0), "sgd": (99.2, 99.2)}) == []


def lowered(method, made):
    """The made results, one method's curves moved to 40 % and the others' near 90 %."""
    found = Results(made.results)
    curves = found.curves.copy()
    near = 90 + curves["accuracy"] / 100
    curves["accuracy"] = near.where(curves["method"] != method, 40.0)
    return SimpleNamespace(curves=curves, runs=found.runs, summary=found.summary)


def test_a_method_far_below_has_an_axis_of_its_own_and_the_others_share_one():
    made = fake_results.demo()
    with style.styled():
        drawing = next(curves.draw(lowered("clser", made), Layout.of(made.layout)))
    *others, own = drawing.figure.axes
    assert own.get_title() == "CLS-ER, own axis"
    assert own.get_ylim()[0] < 40
    assert {panel.get_ylim() for panel in others} == {others[0].get_ylim()}
    assert others[0].get_ylim()[0] > 88  # theirs lie within a point of 90; the axis spans two
    numbered = [panel.yaxis.get_tick_params()["labelleft"] for panel in others]
    assert numbered == [True, False, False, True, False]
    assert own.yaxis.get_tick_params().get("labelleft", True)
    assert drawing.caption.endswith("with a vertical axis of its own: CLS-ER.")


def test_without_a_method_far_below_all_curves_share_one_axis():
    drawing = drawn(curves, fake_results.demo())[0]
    assert len({panel.get_ylim() for panel in drawing.figure.axes}) == 1
    assert "of its own" not in drawing.caption


def test_curves_that_all_but_agree_are_not_magnified():
    made = fake_results.demo()
    found = Results(made.results)
    alike = found.curves.assign(accuracy=100 - found.curves["accuracy"] / 200)
    alike = SimpleNamespace(curves=alike, runs=found.runs, summary=found.summary)
    with style.styled():
        drawing = next(curves.draw(alike, Layout.of(made.layout)))
    low, high = drawing.figure.axes[0].get_ylim()
    assert high - low == pytest.approx(2)


def test_the_lowest_panel_of_each_column_has_its_numbers_of_tasks():
    made = fake_results.demo()
    four = [name for name in made.layout["methods"] if name not in ("derpp", "clser")]
    layout = Layout.of(made.layout | {"methods": four})
    with style.styled():
        drawing = next(curves.draw(Results(made.results), layout))
    shown = [place for place in drawing.figure.axes if place.get_visible()]
    numbered = [place.xaxis.get_tick_params()["labelbottom"] for place in shown]
    assert numbered == [False, True, True, True]  # three above, one below


def test_what_lies_far_below_is_held_in_a_strip_and_named_in_the_caption():
    published = Results(Path(__file__).parents[1] / "results" / "offline")
    layout = Layout.of(fake_runs.LAYOUT | {"main": [200, 500, 1000], "datasets": ["cifar100"]})
    with style.styled():
        (drawing,) = footprint.draw(published, layout)
    assert isinstance(drawing, Drawing)
    task, by_class = drawing.figure.axes
    bottom, top = task.get_ylim()
    height = task.transAxes.inverted().transform(task.transData.transform([(20, 88.76)]))[0, 1]
    assert 0.25 < height < 0.4  # the lowest of the others stands low, but above the strip
    assert bottom < 76.38
    assert top > 92.35
    assert task.get_yscale() == "function"
    assert by_class.get_yscale() == "linear"
    assert drawing.caption.endswith("far below: CLS-ER.")


def test_a_panel_of_recall_shows_only_cells_that_all_its_memories_share():
    def row(memory, method, buffer, mse):
        return ["digits", "tiny", method, f"{memory}-t0.8", memory, 0.8, buffer, 0, mse, 1.0, 0.5]

    names = ["dataset", "backbone", "method", "variant", "memory", "theta", "buffer", "age"]
    table = [
        row("bayes_pcn", "er", 50, 0.2), row("hopfield", "er", 50, 0.4),
        row("bayes_pcn", "gem", 50, 0.9), row("bayes_pcn", "er", 200, 0.9),
    ]  # fmt: skip
    frame = pd.DataFrame(table, columns=[*names, "mse", "zero_fill_mse", "mean_fill_mse"])
    with style.styled():
        (drawing,) = recall_error.draw(recalled(frame), Layout.of(fake_runs.LAYOUT))
    (panel,) = drawing.figure.axes
    shown = {line.get_label(): line.get_ydata()[0] for line in panel.get_lines()}
    assert shown["BayesPCN"] == 0.2  # over all cells it would be 0.67
    assert shown["classical Hopfield"] == 0.4
    assert panel.get_title() == "θ = 0.8: ER, buffer 50"
    assert "(θ = 0.8: ER, buffer 50)" in drawing.caption


def recalled(frame):
    """Results whose every planned cell has runs."""
    return SimpleNamespace(recall=frame, summary=Results(fake_results.demo().results).summary)


def test_no_panel_of_recall_is_cut_off_where_a_later_one_is_taller():
    whole = Results(fake_results.demo().results).recall
    tall = (whole["theta"] == 0.8) & (whole["age"] == whole["age"].min())
    frame = whole.assign(mse=whole["mse"].where(~tall, 1.3 * whole["zero_fill_mse"]))
    with style.styled():
        (drawing,) = recall_error.draw(recalled(frame), Layout.of(fake_runs.LAYOUT))
        drawing.figure.canvas.draw()
    for panel in drawing.figure.axes:
        bottom, top = panel.get_ylim()
        highest = max(np.max(line.get_ydata()) for line in panel.get_lines())
        assert bottom == 0
        assert top > highest
    assert highest == pytest.approx(1.3)


def test_the_grey_dashes_of_recall_have_one_name_in_legend_and_caption():
    (drawing,) = drawn(recall_error, fake_results.demo())
    dashed = [x.get_label() for x in drawing.figure.axes[0].get_lines() if x.get_ls() == "--"]
    assert dashed == [recall_error.MEAN_FILL]
    assert f"the {recall_error.MEAN_FILL}," in drawing.caption


def test_scatter_tells_methods_by_marker_data_sets_by_panel_and_sharc_by_filling():
    made = fake_results.small()
    with style.styled():
        (drawing,) = paper_vs_ours.draw(
            Results(made.results), Layout.of(made.layout), Paper(fake_results.PAPER)
        )
    panels = drawing.figure.axes
    assert [panel.get_title() for panel in panels] == [
        "S-CIFAR-10, Task-IL", "S-CIFAR-10, Class-IL",
        "S-Mini-ImgNet, Task-IL", "S-Mini-ImgNet, Class-IL",
    ]  # fmt: skip
    for panel in panels:
        points = [(x.get_marker(), x.get_markerfacecolor()) for x in panel.get_lines()[:-1]]
        # two buffers each, alone and with SHARC; JOINT and SGD once
        for method in ("er", "derpp"):
            marker, colour = style.MARKERS[method], style.COLOURS[method]
            assert points.count((marker, "white")) == points.count((marker, colour)) == 2
        assert {marker for marker, _ in points} == {"*", "x", "o", "v"}
    (legend,) = drawing.figure.legends
    assert [text.get_text() for text in legend.get_texts()][-2:] == [
        "hollow: the method alone", "filled: with SHARC",
    ]  # fmt: skip


def swept(accuracies):
    lines = [("digits", "er", theta, acc) for theta, acc in accuracies.items()]
    return pd.DataFrame(lines, columns=["dataset", "method", "theta", "acc_mean"])


def test_the_caption_of_theta_says_when_the_best_is_where_the_sweep_ends():
    said = theta.edge(swept({0: 80, 0.5: 81, 0.9: 82}), "task_il")
    assert "In Task-IL the best θ of ER is 0.9, where this suite's sweep ends" in said
    assert theta.edge(swept({0: 80, 0.5: 83, 0.9: 82}), "task_il") == ""  # within the sweep
    assert theta.edge(swept({0: 80, 0.5: 81, 1.0: 82}), "task_il") == ""  # as far as the paper
    published = Results(Path(__file__).parents[1] / "results" / "offline")
    with style.styled():
        (drawing,) = theta.draw(published, Layout.of(fake_runs.LAYOUT))
    assert "best θ of ER and GEM is 0.9" in drawing.caption  # 91.61 and 91.21 of Task-IL


def test_figure_1_shows_the_errors_of_its_rows_and_the_means_of_the_hard_ones(tmp_path):
    folder = fake_results.figure1(tmp_path)
    content = json.loads((folder / "figure1.json").read_text())
    for row in content["rows"]:
        if row["stored"] and (row["corruption"], row["level"]) == ("block", 0.5):
            row["inpainter"]["mse"], row["hopfield"]["mse"] = 0.2377, 1.6e-6
        if row["stored"] and (row["corruption"], row["level"]) == ("block", 0.75):
            row["inpainter"]["mse"] = 0.26
    (folder / "figure1.json").write_text(json.dumps(content))
    with style.styled():
        (drawing,) = figure1.draw(folder)
    panels = np.array(drawing.figure.axes).reshape(-1, 4)
    assert [panel.get_xlabel() for panel in panels[3]] == ["", "", "0.2377", "< 0.0001"]
    assert [panel.get_xlabel() for panel in panels[0]] == ["", "", "0.0100", "0.0010"]
    # salient 0.75 and 0.9, block 0.75, dropout 0.75, noise 0.8: (4 x 0.01 + 0.26) / 5
    assert "memory 0.0010, inpainter 0.0600 for stored images" in drawing.caption
    assert "memory 0.5000, inpainter 0.2000 for as many images" in drawing.caption


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
    with style.styled():
        assert mpl.rcParams["pdf.fonttype"] == 42
    assert mpl.rcParams["font.size"] == before


def published_gains(suite, **layout):
    found = Results(Path(__file__).parents[1] / "results" / suite)
    with style.styled():
        (drawing,) = gains.draw(
            found, Layout.of(fake_runs.LAYOUT | layout), Paper(fake_results.PAPER)
        )
    return drawing


def test_a_gain_is_coloured_by_its_verdict_and_lies_over_the_papers():
    drawing = published_gains("cifar10", main=[200], datasets=["cifar10"])
    (row,) = drawing.data.query("scenario == 'task_il' and method == 'clser'").to_dict("records")
    assert row["verdict"] == "worsens"
    assert row["paper_gain"] == pytest.approx(10.42)
    panel = drawing.figure.axes[0]
    assert panel.get_title() == "S-CIFAR-10, Task-IL"
    points = [(x.get_xdata()[0], x.get_color(), x.get_zorder()) for x in panel.get_lines()]
    (ours,) = [point for point in points if point[0] == row["gain"]]
    (printed,) = [point for point in points if point[0] == row["paper_gain"]]
    assert ours[1] == gains.VERDICT_COLOURS["worsens"]
    assert ours[2] > printed[2]


def test_gains_stand_side_by_side_when_wide_and_below_each_other_when_narrow():
    drawing = published_gains("cifar10", main=[200], datasets=["cifar10"])
    wide, narrow = ([axes.get_position() for axes in figure.axes]
                    for figure in (drawing.figure, drawing.narrow))  # fmt: skip
    assert wide[0].y0 == wide[1].y0
    assert narrow[0].x0 == narrow[1].x0
    assert drawing.narrow.get_figwidth() < drawing.figure.get_figwidth()


def test_without_printed_numbers_the_gain_figure_does_not_speak_of_them():
    drawing = published_gains("demo")
    assert "paper" not in drawing.caption
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()][-1] == "buffer 200"


def test_a_suite_without_sharc_has_no_gain_to_draw(tmp_path):
    grid = fake_runs.Grid(methods=("sgd",), buffers=(50,), seeds=2, memories=(), thetas=())
    paths, expected = fake_runs.write(tmp_path / "runs", grid)
    collect.build(paths, expected, tmp_path / "results", joint_bwt="not_applicable")
    layout = Layout.of(fake_runs.LAYOUT | {"main": [50], "methods": ["sgd"]})
    with style.styled():
        (drawing,) = gains.draw(Results(tmp_path / "results"), layout, Paper(fake_results.PAPER))
    assert isinstance(drawing, Omitted)
