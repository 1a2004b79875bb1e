"""Stage figures: results -> pictures in one style, their numbers, and an index with captions."""

from pathlib import Path
from typing import Any

from sharc.artifacts.files import write_json
from sharc.figures import curves, footprint, gains, memories, paper_vs_ours, recall_error, theta
from sharc.figures import figure1 as errors
from sharc.figures.style import Omitted, save, styled
from sharc.results.folder import Results
from sharc.results.layout import Layout
from sharc.results.paper import Paper


def build(
    results: Path, paper_csv: Path, figure1: Path | None, out: Path, *, layout: dict[str, Any]
) -> None:
    """Write every figure whose data this suite has, and index.json, which names the others.

    A figure without data is not drawn as an empty sheet: index.json lists it under `omitted`
    with the reason, and the report says so.
    """
    found, shape = Results(results), Layout.of(layout)
    figures, omitted = [], []
    with styled():
        for drawing in (
            *gains.draw(found, shape, Paper(paper_csv)),
            *errors.draw(figure1),
            *curves.draw(found, shape),
            *memories.draw(found, shape),
            *theta.draw(found, shape),
            *footprint.draw(found, shape),
            *recall_error.draw(found, shape),
            *paper_vs_ours.draw(found, shape, Paper(paper_csv)),
        ):
            entry: dict[str, Any] = {"name": drawing.name, "title": drawing.title}
            if isinstance(drawing, Omitted):
                omitted.append(entry | {"reason": drawing.reason})
            else:
                files = save(drawing, out)
                entry |= {"caption": drawing.caption, "photographs": drawing.photographs}
                figures.append(entry | {"files": files})
    write_json(out / "index.json", {"figures": figures, "omitted": omitted})
