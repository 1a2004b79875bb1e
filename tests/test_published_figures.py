"""The committed figures that rest on summary.csv, or it and the paper, are what it draws now."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sharc.figures import footprint, gains, memories, paper_vs_ours, style, theta
from sharc.figures.style import Drawing
from sharc.pipeline import load_graph
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper

ROOT = Path(__file__).parents[1]
RESULTS, PAPER = ROOT / "results", ROOT / "data" / "paper" / "results.csv"


@pytest.mark.parametrize("suite", ["demo", "cifar10", "offline"])
def test_a_committed_figure_shows_the_committed_numbers(suite: str, tmp_path: Path) -> None:
    [job] = load_graph(suite).in_stage("figures")
    layout, published = Layout.of(job.settings), Results(RESULTS / suite)
    with style.styled():
        drawn = [
            d for module in (footprint, memories, theta) for d in module.draw(published, layout)
        ]
        drawn += paper_vs_ours.draw(published, layout, Paper(PAPER))
        if suite == "offline":
            drawn += gains.draw(published, layout, Paper(PAPER))
        for drawing in drawn:
            path = RESULTS / suite / f"{drawing.name}.png"
            assert path.is_file() == isinstance(drawing, Drawing)
            if isinstance(drawing, Drawing):
                style.save(drawing, tmp_path)
                assert _apart(tmp_path / path.name, path) < 0.5, path


def _apart(one: Path, other: Path) -> float:
    """Mean difference of the pixels, of 255."""
    pixels = [np.asarray(Image.open(path).convert("RGB"), dtype=float) for path in (one, other)]
    return 255.0 if pixels[0].shape != pixels[1].shape else float(abs(pixels[0] - pixels[1]).mean())
