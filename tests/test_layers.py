"""The packages form layers, and their picture is that of the code."""

import re
from pathlib import Path

import pytest
from docs import layers
from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent


def test_every_package_imports_only_what_lies_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0


def test_the_picture_of_the_layers_is_current() -> None:
    shown = (ROOT / "docs/layers.svg").read_text(encoding="utf-8")
    assert shown == layers.picture(), "run `python -m docs.layers`"


def test_only_the_imports_that_no_longer_path_implies_are_drawn() -> None:
    edges = {"a": {"b", "c"}, "b": {"c"}}
    assert list(layers.shortest(edges)) == [("a", "b"), ("b", "c")]


def test_the_architecture_page_names_files_that_exist() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w.]+/)*[\w.]*(?:/|\.py|\.html\.j2|\.yaml))`", page))
    assert len(named) > 40
    missing = {n for n in named if not any((r / n).exists() for r in (ROOT, ROOT / "src/sharc"))}
    assert not missing
