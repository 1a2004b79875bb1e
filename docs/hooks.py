"""The documentation site is made of the repository's own pages, at their own paths.

MkDocs wants all pages in one folder. Ours stand where GitHub's readers look for them, so this hook
hands MkDocs the home page, all pages of `docs/`, and whatever these link to, each under its path in
the repository: every relative link works in both places.
"""

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs.links import PAGES, links, slugify  # noqa: E402
from docs.notebook import as_markdown  # noqa: E402

STARTS = ("README.md", "REPRODUCIBILITY.md", "CHANGELOG.md", "CONTRIBUTING.md")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Anchors as GitHub makes them, so that one link serves both."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config


def on_page_markdown(markdown: str, **_: object) -> str:
    """A notebook is a page here: a link to it leads to that."""
    return markdown.replace(".ipynb)", ".md)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages and what they link to, in place of the content of `docs/` alone."""
    theme = [file for file in files if not file.src_uri.endswith(".md") and _of_theme(file)]
    return Files(theme + [_file(path, config) for path in sorted(reachable(_starts()))])


def reachable(starts: list[Path]) -> set[Path]:
    """The pages to start with and every file that a chain of links leads to from them."""
    found: set[Path] = set()
    ahead = list(starts)
    while ahead:
        path = ahead.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        if path.suffix in PAGES:
            ahead += [link.path for link in links(path)]
    return found


def _starts() -> list[Path]:
    return [ROOT / name for name in STARTS] + [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("*.ipynb"),
    ]


def _of_theme(file: File) -> bool:
    return not Path(file.abs_src_path or "").is_relative_to(ROOT / "docs")


def _file(path: Path, config: MkDocsConfig) -> File:
    uri = path.relative_to(ROOT).as_posix()
    if path.suffix == ".ipynb":
        return File.generated(config, f"{uri[:-6]}.md", content=as_markdown(path))
    return File.generated(config, uri, abs_src_path=str(path))
