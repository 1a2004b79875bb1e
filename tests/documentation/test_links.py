"""Every relative link of every page leads to a file, and every anchor to a heading."""

import json
from pathlib import Path

import pytest
from docs.links import Link, anchors, links

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs").glob("*.ipynb"),
    *(ROOT / "results").rglob("*.md"),
    *(ROOT / "own").glob("*.md"),
    *(ROOT / "data/external").glob("*.md"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path):
    problems = [problem for link in links(page) if (problem := link.problem())]
    assert not problems


def test_the_pages_of_a_clone_are_among_those_checked():
    names = {page.name for page in PAGES}
    assert {"README.md", "REPRODUCIBILITY.md", "CONTRIBUTING.md", "guarantees.md"} <= names


def test_links_are_found_in_text_pictures_tables_and_html_but_not_in_code(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "[a](one.md) ![b](two.png) <img src='x' alt=''> [c](https://example.org)\n\n"
        '<img src="three.png">\n\n| [d](four.md#top) |\n|---|\n| `[no](five.md)` |\n\n'
        "```\n[no](six.md)\n```\n"
    )
    assert [link.target for link in links(page)] == [
        "one.md",
        "two.png",
        "three.png",
        "four.md#top",
    ]


def test_a_missing_file_and_a_missing_heading_are_named(tmp_path: Path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    page.write_text("# Here\n")
    other.write_text("# What is *not* promised, or `asked`?\n\n## Twice\n\n## Twice\n")
    assert anchors(other) == {"what-is-not-promised-or-asked", "twice", "twice-1"}
    assert Link(page, "other.md#twice-1").problem() is None
    assert Link(page, "#here").problem() is None
    assert Link(page, "other.md#thrice").problem() == (
        "page.md: other.md has no heading for 'other.md#thrice'"
    )
    assert Link(page, "gone.md").problem() == "page.md: 'gone.md' does not exist"


def test_the_links_of_a_notebook_are_those_of_its_text(tmp_path: Path):
    cells = [
        {"cell_type": "markdown", "source": ["# See [a](one.md)\n", "and [b](two.md)"]},
        {"cell_type": "code", "source": ["# [no](three.md)"]},
    ]
    notebook = tmp_path / "notebook.ipynb"
    notebook.write_text(json.dumps({"cells": cells}))
    assert [link.target for link in links(notebook)] == ["one.md", "two.md"]
    assert anchors(notebook) == {"see-a"}
