"""The result as a page: outputs/bench/benchmarks.md, and docs/benchmarks.md when published."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from bench.machine import ROOT
from bench.section import Section
from bench.targets import TARGETS
from bench.timing import Measure, number
from sharc.tables.render import pipes

EXPECTED = ROOT / "bench/expected.json"
DOCS = ROOT / "docs"
PICTURE = "benchmarks/ratios.png"
OURS, MISSED = "#0072B2", "#D55E00"

INTRODUCTION = """# Benchmarks

Made by `make bench`; `python -m bench --publish` puts this page in place, and `python -m bench
--only training` measures one part again. Ratios are measured side by side: rounds are interleaved,
the number is the median over rounds of the ratio within a round, in brackets the smallest and the
largest; a number without brackets was measured once. Time is CPU time with one thread on both
sides. Features and maps are synthetic, in the shapes of the paper's data sets. ONNX Runtime, which
computes the features, exceeds the peak of PyTorch's matmul where MKL uses no AVX-512, as on AMD's
processors. The plain loop is the [textbook](method.md)'s, one seed at a time; with ours a
stack of runs advances together. Both train for Split CIFAR-10's 5,000 steps and are tested after
every task; against Avalanche steps alone count.
"""


def write(sections: Mapping[str, Section], folder: Path) -> Path:
    """The page and its picture in one folder."""
    measures = {name: m for section in sections.values() for name, m in section.measures.items()}
    profiles = {name: p for section in sections.values() for name, p in section.profiles.items()}
    abouts = [section.about for section in sections.values()]
    parts = [INTRODUCTION]
    for name in ("processor", "versions"):
        parts.append(f"- {name}: {' / '.join(dict.fromkeys(about[name] for about in abouts))}")
    for title, ratios in (("How many times as fast", True), ("What it costs", False)):
        what = "what: compared with" if ratios else "what"
        columns = [what, "× as fast" if ratios else "measured", "target", "", "why missed"]
        rows = [
            target.row(measures.get(target.measure), profiles.get(target.measure, ""))
            for target in TARGETS
            if target.is_ratio == ratios
        ]
        parts += ["", f"## {title}", "", pipes(columns, rows)]
        if ratios:
            parts.append(f"![How many times as fast]({PICTURE})")
    parts += ["## The parts", ""]
    for name, section in sections.items():
        about = section.about
        said = f"Measured {about['date']} at commit {about['commit']} in {about['seconds']} s; "
        said += f"load average {about['load']} before it (idle is 0)."
        parts.append(f"- **{name}**: {' '.join([*section.notes, said])}")
    picture(measures, folder / PICTURE)
    page = folder / "benchmarks.md"
    page.write_text("\n".join(parts).rstrip() + "\n")
    return page


def picture(measures: Mapping[str, Measure], path: Path) -> None:
    """Every ratio as a dot with its spread on one logarithmic axis, its target as a tick."""
    from matplotlib.figure import Figure

    shown = [(t, measures[t.measure]) for t in TARGETS if t.is_ratio and t.measure in measures]
    figure = Figure(figsize=(8, 0.26 * len(shown) + 0.8), layout="constrained")
    axes = figure.subplots()
    for at, (target, found) in enumerate(reversed(shown)):
        colour = OURS if target.met(found) else MISSED
        axes.plot([found.low, found.high], [at, at], color=colour, lw=1.2)
        axes.plot(found.median, at, "o", color=colour, markersize=5)
        bound = target.bound or 1.0
        axes.plot(bound, at, "|", color="#555555", markersize=9)
        right = max(found.high, bound)
        axes.annotate(f"  {number(found.median)}", (right, at), va="center", fontsize=7)
    axes.set_yticks(range(len(shown)), [t.what for t, _ in reversed(shown)], fontsize=7)
    axes.axvline(1, color="#999999", lw=0.8)
    axes.set(xscale="log", xlabel="× as fast (log); dot: measured, tick: target, orange: missed")
    axes.margins(x=0.08)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def publish(folder: Path) -> None:
    """Copy the page and its picture to where they are committed."""
    shutil.copy(folder / "benchmarks.md", DOCS / "benchmarks.md")
    shutil.rmtree(DOCS / "benchmarks", ignore_errors=True)
    shutil.copytree(folder / "benchmarks", DOCS / "benchmarks")


def expect(sections: Mapping[str, Section]) -> None:
    """Write down the ratios of a small run, by part, for the guard test."""
    kept = {
        name: {
            measure: float(f"{found.median:.3g}")
            for measure, found in section.measures.items()
            if re.search(r"_vs_|percent_of_peak|sharc_cost", measure)
        }
        for name, section in sections.items()
    }
    content = {name: ratios for name, ratios in kept.items() if ratios}
    EXPECTED.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def fallen(measures: Mapping[str, Measure], expected: Mapping[str, float]) -> dict[str, str]:
    """What is not half as good as expected, or was not measured at all.

    A cost is expected too, as a multiple: it may not double.
    """
    lost = {}
    for name, value in expected.items():
        found = measures.get(name)
        if found is None:
            lost[name] = f"not measured, expected {value}"
            continue
        good = value / found.median if name.startswith("sharc_cost") else found.median / value
        if good < 0.5:
            lost[name] = f"{found.median:.3g}, expected {value}"
    return lost
