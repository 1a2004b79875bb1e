"""`sharc compare`: which cells moved between two builds, as text, CSV and a figure."""

from collections import Counter
from pathlib import Path

import pandas as pd

from sharc.artifacts.files import write_text
from sharc.compare.cells import MOVES, SAME, compare, labels_of, only_in, ordered
from sharc.compare.places import results_of
from sharc.config import load_params
from sharc.results.labels import signed
from sharc.results.statistics import LEVEL

_MOST = 20  # lines that fit a screen


def compare_results(a: str, b: str, suite: str | None, out: Path | None, everything: bool) -> None:
    """Print what moved from A to B; with `out`, write compare.csv and the figure there."""
    chosen = suite or load_params().suite
    with results_of(a, chosen) as first, results_of(b, chosen) as second:
        frame = compare(first, second)
        alone = [only_in(first, second), only_in(second, first)]
    print(f"A: {a}\nB: {b}\n{_counts(frame, alone)}{_notes(frame)}")
    moved = ordered(frame)
    if len(moved):
        print()
        _show(moved if everything else moved.head(_MOST))
    if len(moved) > _MOST and not everything:
        print(f"... and {len(moved) - _MOST} more; --all shows them.")
    if out is not None:
        _write(frame, (a, b), out)


def _write(frame: pd.DataFrame, names: tuple[str, str], out: Path) -> None:
    """The CSV always, the figure if something moved."""
    if ordered(frame).empty:
        write_text(out / "compare.csv", frame.to_csv(index=False, float_format="%.6g"))
        files = ["compare.csv"]
    else:
        from sharc.compare.figure import draw
        from sharc.figures.style import save

        files = save(draw(frame, names), out)
    print(f"\nWritten to {out}: {', '.join(files)}")


def _counts(frame: pd.DataFrame, alone: list[int]) -> str:
    found = Counter(frame["acc_move"])
    moves = [f"{found[move]} {move}" for move in (*MOVES.values(), SAME)]
    rest = [f"{n} only in {side}" for side, n in zip("AB", alone, strict=True) if n]
    more = f" ({', '.join(rest)})" if rest else ""
    return f"{len(frame)} cells in both{more}; ACC: {', '.join(moves)}."


def _notes(frame: pd.DataFrame) -> str:
    """How to read the counts."""
    decided = frame["acc_move"].isin(["rises", "falls"]).sum()
    chance = (1 - LEVEL) * (frame["acc_move"] != SAME).sum()
    notes = []
    if decided and chance >= 1:
        notes.append(f"By chance alone about {chance:.0f} would rise or fall.")
    if not frame["paired"].all():
        notes.append("Cells without runs of the same seeds on both sides are compared unpaired.")
    return "".join(f"\n{note}" for note in notes)


def _show(moved: pd.DataFrame) -> None:
    names = list(labels_of(moved))
    width = max(map(len, names))
    print(f"{'':{width}}  {'A':>6}  {'B':>6}  B - A with 95 % interval")
    for name, row in zip(names, moved.to_dict("records"), strict=True):
        change = signed(row["acc_change"])
        if not pd.isna(row["acc_low"]):
            change += f" [{signed(row['acc_low'])}, {signed(row['acc_high'])}]"
        numbers = f"{row['acc_a']:6.2f}  {row['acc_b']:6.2f}  {change}"
        print(f"{name:{width}}  {numbers}  {row['acc_move']}")
