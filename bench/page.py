"""The result as a page: outputs/bench/benchmarks.md, and docs/benchmarks.md when published."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from bench.machine import ROOT
from bench.section import Section
from bench.targets import TARGETS, tables
from bench.timing import Measure, number

EXPECTED = ROOT / "bench/expected.json"
DOCS = ROOT / "docs"
PICTURE = "benchmarks/ratios.png"
OURS, MISSED = "#0072B2", "#D55E00"

INTRODUCTION = """# Benchmarks

Made by `make bench`, and the half hour of direct Adam on a thousand maps by `python -m bench --only
thousand`; `python -m bench --publish` puts this page in place. Ratios are measured side by side:
rounds are interleaved, the number is the median over rounds of the ratio within a round, in
brackets the smallest and the largest. There are three rounds, two for associative memories and
growth; cells of the grid, graphs and jobs are timed once, and so have no brackets. Time is CPU time
with one thread on both sides unless a column says wall. Features and maps are synthetic, in the
shapes of the paper's data sets. A part can be measured on its own (`python -m bench --only head`);
each says when it was measured, of which commit, and how busy the machine was. What a suite took is
read from a build at hand (SHARC_BUILT names its folder), else from the committed results, which may
be another machine's.
"""


def write(sections: Mapping[str, Section], folder: Path) -> Path:
    """The page and its picture in one folder."""
    measures = all_measures(sections)
    parts = [INTRODUCTION, *_shared(sections), "", *(t.markdown() for t in tables(measures))]
    parts += [f"![How many times as fast]({PICTURE})", ""]
    picture(measures, folder / PICTURE)
    for section in sections.values():
        parts += [f"## {section.title}", "", *(found.markdown() for found in section.tables)]
        parts += [f"{note}\n" for note in (*section.notes, _when(section.about))]
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
        axes.plot(target.bound, at, "|", color="#555555", markersize=9)
        axes.annotate(
            f"  {number(found.median)}",
            (max(found.high, target.bound), at),
            va="center",
            fontsize=7,
        )
    axes.set_yticks(range(len(shown)), [t.what for t, _ in reversed(shown)], fontsize=7)
    axes.axvline(1, color="#999999", lw=0.8)
    axes.set(xscale="log", xlabel="× as fast (log); dot: measured, tick: target")
    axes.margins(x=0.08)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _shared(sections: Mapping[str, Section]) -> list[str]:
    """The machine and its programs, once if all parts have them in common."""
    abouts = [section.about for section in sections.values()]
    return [
        f"- {name}: {' / '.join(dict.fromkeys(about[name] for about in abouts))}"
        for name in ("processor", "versions")
    ]


def _when(about: Mapping[str, str]) -> str:
    return (
        f"Measured {about['date']} at commit {about['commit']} by `{about['command']}` in "
        f"{about['seconds']} s; load average {about['load']} before it (idle is 0)."
    )


def all_measures(sections: Mapping[str, Section]) -> dict[str, Measure]:
    """The measures of all sections together."""
    return {name: m for section in sections.values() for name, m in section.measures.items()}


def publish(folder: Path) -> None:
    """Copy the page and its figures to where they are committed."""
    shutil.copy(folder / "benchmarks.md", DOCS / "benchmarks.md")
    shutil.rmtree(DOCS / "benchmarks", ignore_errors=True)
    shutil.copytree(folder / "benchmarks", DOCS / "benchmarks")


def expect(sections: Mapping[str, Section]) -> None:
    """Write down the ratios of a small run, by part, for the guard test."""
    kept = {
        name: {
            measure: float(f"{found.median:.3g}")
            for measure, found in section.measures.items()
            if re.search(r"_vs_|percent_of_peak|sharc_cost|bayes_pcn_same", measure)
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
