"""The README's picture is what the committed results give."""

from pathlib import Path

import numpy as np
from docs import picture
from PIL import Image


def test_the_readmes_picture_shows_the_committed_numbers(tmp_path: Path):
    drawn, shown = (
        np.asarray(Image.open(path).convert("RGB"), dtype=float)
        for path in (picture.draw(tmp_path), picture.ROOT / "docs/gains.png")
    )
    assert drawn.shape == shown.shape
    assert abs(drawn - shown).mean() < 0.5, "draw it with `python -m docs.picture`"
