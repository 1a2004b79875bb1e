"""The documentation site builds without a warning and asks no other host for anything."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


class Resources(HTMLParser):
    """What a browser fetches to show a page, which is not where its links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "link" and said.get("rel") in ("canonical", "prev", "next"):
            return
        name = {"link": "href", "script": "src", "img": "src", "iframe": "src"}.get(tag)
        self.fetched += [value for value in [said.get(name or "")] if value]


def navigation() -> list[str]:
    text = (ROOT / "mkdocs.yml").read_text()
    return [path for entry in yaml.safe_load(text)["nav"] for path in entry.values()]


def test_every_page_of_docs_stands_in_the_navigation():
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert pages <= set(navigation())


def test_the_navigation_names_pages_and_notebooks_that_exist():
    sources = [(ROOT / path, (ROOT / path).with_suffix(".ipynb")) for path in navigation()]
    assert [page for page, notebook in sources if not (page.is_file() or notebook.is_file())] == []


@pytest.mark.slow
def test_the_site_builds_strictly_and_fetches_nothing_from_elsewhere(tmp_path: Path):
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)],
        cwd=ROOT,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert (tmp_path / "index.html") in pages
    for page in pages:
        fetched = Resources(page.read_text()).fetched
        assert fetched, page.name
        elsewhere = [address for address in fetched if re.match(r"(https?:)?//", address)]
        assert not elsewhere, page.name
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", style.read_text()), style.name
