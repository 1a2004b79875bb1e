"""Links of a Markdown page: where they lead, and the anchors that a page offers.

The site is made of what these links reach, and tests check that each of them leads somewhere.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

PAGES = (".md", ".ipynb")
_PARSER = MarkdownIt("commonmark").enable("table")
_HTML_ANCHOR = re.compile(r'\b(?:id|name)="([^"]+)"')
_HTML_TARGET = re.compile(r'\b(?:href|src)="([^"]+)"')


@dataclass(frozen=True)
class Link:
    """A link or picture of a page to a file of the project, or to an anchor in one."""

    page: Path
    target: str

    @property
    def path(self) -> Path:
        """The file it leads to; the page itself if the link is an anchor only."""
        path = unquote(urlsplit(self.target).path)
        return Path((self.page.parent / path).resolve()) if path else self.page.resolve()

    @property
    def anchor(self) -> str:
        """What stands after the number sign, if anything."""
        return unquote(urlsplit(self.target).fragment)

    def problem(self) -> str | None:
        """Why the link leads nowhere; None if it is good."""
        if not self.path.exists():
            return f"{self.page.name}: {self.target!r} does not exist"
        if self.anchor and self.path.suffix in PAGES and self.anchor not in anchors(self.path):
            return f"{self.page.name}: {self.path.name} has no heading for {self.target!r}"
        return None


def links(page: Path) -> list[Link]:
    """Every link and picture of a page or notebook, but for addresses of other hosts."""
    return [
        Link(page, target)
        for token in _tokens(page)
        for target in _targets(token)
        if not urlsplit(target).scheme and not target.startswith("//")
    ]


def anchors(page: Path) -> set[str]:
    """The anchors of a page: those of its headings, as GitHub makes them, and those in HTML."""
    found: set[str] = set()
    tokens = list(_tokens(page))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children or [])
            found.add(_numbered(slug(text), found))
        if "html" in opening.type:
            found.update(_HTML_ANCHOR.findall(opening.content))
    return found


def slug(heading: str) -> str:
    """A heading's anchor: lower case, without punctuation, a hyphen for each space."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def slugify(heading: str, separator: str) -> str:
    """The same for MkDocs, whose default drops what is not ASCII."""
    return slug(heading).replace("-", separator)


def _numbered(name: str, taken: set[str]) -> str:
    """A heading that comes twice gets a number at its second place."""
    repeats = (f"{name}-{number}" for number in range(1, len(taken) + 2))
    return name if name not in taken else next(repeat for repeat in repeats if repeat not in taken)


def _tokens(page: Path) -> Iterator[Token]:
    for token in _PARSER.parse(_markdown(page)):
        yield token
        yield from token.children or []


def _markdown(page: Path) -> str:
    """The page's text; of a notebook, that of its Markdown cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
    return "\n\n".join("".join(cell["source"]) for cell in cells)


def _targets(token: Token) -> list[str]:
    if token.type in ("html_block", "html_inline"):
        return _HTML_TARGET.findall(token.content)
    return [str(token.attrs[name]) for name in ("href", "src") if name in token.attrs]
