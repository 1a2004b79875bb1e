"""The README's picture: what SHARC adds at a buffer of 200, from the committed results.

python -m docs.picture
"""

from dataclasses import replace
from pathlib import Path

from sharc.config import load_params
from sharc.figures import gains, style
from sharc.pipeline import build_graph
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper

ROOT = Path(__file__).resolve().parents[1]
RESULTS, PAPER = ROOT / "results/offline", ROOT / "data/paper/results.csv"


def draw(folder: Path) -> Path:
    """The picture in `folder`."""
    [job] = build_graph(load_params(ROOT / "params.yaml", suite="offline")).in_stage("figures")
    shown = replace(Layout.of(job.settings), main=(200,), appendix=())
    with style.styled():
        [drawing] = gains.draw(Results(RESULTS), shown, Paper(PAPER))
        assert isinstance(drawing, style.Drawing)
        path = folder / "gains.png"
        drawing.figure.savefig(path, metadata={"Software": None})
    return path


if __name__ == "__main__":
    print(draw(ROOT / "docs"))
