"""Stage ladder: runs from the authors' procedure to the paper's -> one figure, one table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sharc.artifacts.files import write_json, write_text
from sharc.figures import ladder as plot
from sharc.figures.style import save, styled
from sharc.results import ladder as rows
from sharc.results.ladder_plan import LadderPlan
from sharc.results.paper import Paper
from sharc.tables import ladder as table
from sharc.tables import ladder_words


def build(records: Sequence[Path], paper_csv: Path, out: Path, *, layout: dict[str, Any]) -> None:
    """Write ladder.csv, ladder.md, the figure, and index.json for the report.

    A record is a run's, with the key `rung`: the rung it was made at. A planned run that is
    missing, failed or diverged is counted in `n_missing` and shown, never averaged over.
    """
    ladder = LadderPlan.of(layout)
    frame = rows.table(rows.scores(records, ladder), ladder, Paper(paper_csv))
    write_text(out / "ladder.csv", rows.csv(frame))
    write_text(out / "ladder.md", table.markdown(frame, ladder))
    with styled():
        drawing = plot.draw(frame, ladder)
        files = save(drawing, out)
    figure = {"name": drawing.name, "title": drawing.title, "caption": drawing.caption}
    content = {
        "figures": [figure | {"files": [*files, "ladder.csv"]}],
        "omitted": [],
        "caption": ladder_words.caption(ladder),
        "sentences": ladder_words.sentences(frame, ladder),
        "notes": ladder_words.notes(frame),
        "blocks": table.blocks(frame, ladder),
    }
    write_json(out / "index.json", content)
