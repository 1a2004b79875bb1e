"""The specification curve as a figure and as numbers."""

import numpy as np
import pytest

from sharc.figures.specification_curve import draw, medians, table
from sharc.figures.style import save, styled
from sharc.specifications.curve import curve
from sharc.specifications.design import design
from sharc.specifications.factors import Factor

FACTORS = [
    Factor("fill", "sharc.memory", ("bayes_pcn", "none")),
    Factor("views", "features.views", (0, 5)),
]


@pytest.fixture(scope="module")
def found():
    """Gains of 3 points, 4 less with zeros, and none of the last specification."""
    sample = design(FACTORS, 4, 0, lambda _: None).sample
    gains = [
        {s: 3.0 - 4 * (spec.choices["fill"] == "none") + 0.1 * s for s in range(5)}
        for spec in sample
    ]
    gains[-1] = {}
    return curve(list(zip(sample, gains, strict=True))), sample


def test_the_numbers_are_in_the_order_of_the_curve(found):
    frame = table(found[0], FACTORS)
    assert list(frame["gain"]) == sorted(frame["gain"])
    assert len(frame) == 3
    by_fill = frame.groupby("fill")["gain"].first()
    assert by_fill["none"] == pytest.approx(-0.8)
    assert by_fill["bayes_pcn"] == pytest.approx(3.2)
    assert set(frame["seeds"]) == {5}


def test_the_median_of_a_choice_is_that_of_the_specifications_that_make_it(found):
    assert medians(found[0], FACTORS[0]) == {
        "bayes_pcn": pytest.approx(3.2), "none": pytest.approx(-0.8),
    }  # fmt: skip
    other = Factor("order", "data.class_order", ("ascending", 1))
    for point in found[0].points:
        point.specification.choices["order"] = "ascending"
    assert np.isnan(medians(found[0], other)[1])


def test_the_figure_is_drawn_wide_and_narrow_with_its_numbers(found, tmp_path):
    with styled():
        drawing = draw(found[0], FACTORS, name="specification_curve", title="t", what="gain")
        files = save(drawing, tmp_path)
    assert "specification_curve_narrow.png" in files  # too many marks for SVG
    assert "specification_curve.csv" in files
    assert "Missing specifications: 1." in drawing.caption
    above, below = drawing.figure.axes
    points = [line for line in above.lines if line.get_marker() in {"^", "v"}]
    drawn = sorted(float(y) for line in points for y in line.get_ydata())
    assert drawn == sorted(point.gain.mean for point in found[0].points)
    ticks = sum(
        np.isfinite(line.get_ydata()).sum() / 2 for line in below.lines if line.get_lw() == 1
    )
    assert ticks == 3 * len(FACTORS)
