"""The result as a page: outputs/bench/benchmarks.md, and docs/benchmarks.md when published."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from bench import figures, profiles
from bench.reasons import REASONS
from bench.section import Section
from bench.targets import missed, table
from bench.timing import Measure

ROOT = Path(__file__).parents[1]
EXPECTED = ROOT / "bench/expected.json"
DOCS = ROOT / "docs"

INTRODUCTION = """# Benchmarks

Made by `make bench`, published by `python -m bench --publish`. Every ratio is measured side by side
in one run: rounds are interleaved, the number is the median over rounds, in brackets the smallest
and the largest. Time is CPU time with one thread on both sides unless a column says wall. Features
and maps are synthetic, in the shapes of the paper's data sets. A part can be measured anew on its
own (`python -m bench --only head`); each says when it was measured, of which commit, and how busy
the machine was. SHARC_BUILT names a folder where the suite `offline` is built, if not this one.
"""


def write(sections: dict[str, Section], about: Mapping[str, str], folder: Path) -> Path:
    """The page with its figures, and profiles of what was missed, in one folder."""
    measures = all_measures(sections)
    lost = missed(measures)
    parts = [INTRODUCTION, *(f"- {name}: {text}" for name, text in about.items()), ""]
    parts.append(table(measures, REASONS).markdown())
    shown = profiles.write(lost, folder / "benchmarks/profiles")
    if shown:
        links = (f"[{path.stem}](benchmarks/profiles/{path.name})" for path in shown)
        parts += ["Profiles of what was not met: " + ", ".join(links) + ".", ""]
    drawn = {path.stem: path for path in figures.draw(sections, folder / "benchmarks")}
    for section in sections.values():
        parts += [f"## {section.title}", ""]
        parts += [found.markdown() for found in section.tables]
        parts += [f"{note}\n" for note in section.notes]
        if section.name in drawn:
            parts += [f"![{section.title}](benchmarks/{section.name}.png)", ""]
    page = folder / "benchmarks.md"
    page.write_text("\n".join(parts).rstrip() + "\n")
    return page


def all_measures(sections: Mapping[str, Section]) -> dict[str, Measure]:
    """The measures of all sections together."""
    return {name: m for section in sections.values() for name, m in section.measures.items()}


def publish(folder: Path) -> None:
    """Copy the page and its figures to where they are committed."""
    shutil.copy(folder / "benchmarks.md", DOCS / "benchmarks.md")
    shutil.rmtree(DOCS / "benchmarks", ignore_errors=True)
    shutil.copytree(folder / "benchmarks", DOCS / "benchmarks")


def expect(sections: Mapping[str, Section]) -> None:
    """Write down the ratios of a small run, for the guard test."""
    kept = {
        name: float(f"{measure.median:.3g}")
        for name, measure in all_measures(sections).items()
        if "_vs_" in name or name.startswith("bayes_pcn_same")
    }
    EXPECTED.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
