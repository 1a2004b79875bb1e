"""Charts of the engines and growth plots, as small PNG files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.section import Section
from bench.timing import Measure, number

UNITS = {"buffer": "buffer (whole maps)", "1 / (1 − θ)": "1 / (1 − θ): samples per whole map"}


def draw(sections: Mapping[str, Section], folder: Path) -> list[Path]:
    """Every figure that the sections have the numbers for."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, label in (
        ("head", "µs per step and run, CPU (log)"),
        ("features", "images per CPU second (log)"),
    ):
        if name in sections and sections[name].bars:
            made.append(_bars(sections[name].bars, label, folder / f"{name}.png"))
    if "growth" in sections:
        made.append(_growth(sections["growth"], folder / "growth.png"))
    return made


def _bars(bars: dict[str, Measure], label: str, path: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.32 * len(bars) + 1), layout="constrained")
    names = list(bars)[::-1]
    values = [bars[name].median for name in names]
    spread = [
        [bars[name].median - bars[name].low for name in names],
        [bars[name].high - bars[name].median for name in names],
    ]
    for at, name in enumerate(names):  # dots: on a logarithmic axis a bar has no length
        ours = "ours" in name
        axes.errorbar(
            values[at], at, xerr=[[spread[0][at]], [spread[1][at]]],
            fmt="o" if ours else "s", color="#0072b2" if ours else "#777777", elinewidth=0.8,
        )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="x", color="#dddddd")
    axes.set_xscale("log")
    axes.set_xlabel(label)
    for at, name in enumerate(names):  # beside the spread, not on it
        text = f" {number(bars[name].median)}"
        axes.annotate(text, (bars[name].high, at), va="center", fontsize=8)
    axes.margins(x=0.15)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path


def _growth(section: Section, path: Path) -> Path:
    from matplotlib import pyplot
    from matplotlib.ticker import NullFormatter

    names = list(dict.fromkeys(curve.axis for curve in section.curves))
    figure, grid = pyplot.subplots(2, 3, figsize=(10, 6), layout="constrained")
    for axes, name in zip(grid.flat, names, strict=False):
        for curve in (curve for curve in section.curves if curve.axis == name):
            label = f"{curve.label}: {curve.exponent:.2f}"
            axes.loglog(curve.sizes, curve.costs, marker="o", label=label)
        _linear(axes, [c for c in section.curves if c.axis == name])
        sizes = next(curve.sizes for curve in section.curves if curve.axis == name)
        axes.set_xticks(sizes, [f"{size:.3g}" if size < 1000 else f"{size:.0f}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(UNITS.get(name, name))
        axes.set_ylabel("CPU seconds")
        axes.legend(fontsize=7, title="exponent", title_fontsize=7, loc="upper left")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    return path


def _linear(axes: Any, curves: list[Any]) -> None:
    """What linear growth would look like, from the dearest method's first point."""
    first = max(curves, key=lambda curve: curve.costs[0])
    line = [first.costs[0] * n / first.sizes[0] for n in first.sizes]
    axes.loglog(first.sizes, line, color="#999999", linestyle="--", zorder=0, label="linear: 1")
