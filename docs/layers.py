"""The picture of docs/architecture.md: the packages, layer by layer, as they import each other.

python -m docs.layers

Layers are those of pyproject.toml, which `make check` holds the code to; lines are the imports that
no longer path already implies; those of the lowest layers, which serve all others, are left out.
"""

import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
WIDTH, ROW, BOX, GAP = 1000, 74, 28, 14
SERVE_ALL = 3  # lowest layers
STYLE = """
  .box {fill: #eaf2f8; stroke: #0072b2; stroke-width: 1}
  .line {stroke: #9aa5ad; stroke-width: 1; fill: none}
  text {font: 13px sans-serif; fill: #1b2a33; text-anchor: middle; dominant-baseline: central}
"""
Edges = dict[str, set[str]]


def layers() -> list[list[str]]:
    """The layers of the contract, highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [[name.strip() for name in row.split("|")] for row in contract["layers"]]


def imports() -> Edges:
    """Which packages (or modules at the top) each of them imports when it runs."""
    graph = grimp.build_graph("sharc", exclude_type_checking_imports=True)
    edges: Edges = {}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            above, below = _package(module), _package(imported)
            if above and below and above != below:
                edges.setdefault(above, set()).add(below)
    return edges


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def shortest(edges: Edges) -> Iterator[tuple[str, str]]:
    """The imports without which some package could no longer be reached from another."""

    def reach(name: str) -> set[str]:
        return edges.get(name, set()).union(*(reach(below) for below in edges.get(name, set())))

    for above, direct in sorted(edges.items()):
        for below in sorted(direct):
            if not any(below in reach(other) for other in direct - {below}):
                yield above, below


def picture() -> str:
    """The SVG."""
    rows = layers()
    place: dict[str, tuple[float, float, float]] = {}  # centre x, y and width of each box
    for row, names in enumerate(rows):
        widths = [9 * len(name) + 20 for name in names]
        x = (WIDTH - sum(widths) - GAP * (len(names) - 1)) / 2
        for name, width in zip(names, widths, strict=True):
            place[name] = (x + width / 2, ROW * row + ROW / 2, width)
            x += width + GAP
    common = {name for names in rows[-SERVE_ALL:] for name in names}
    drawn = [(a, b) for a, b in shortest(imports()) if b not in common]
    lines = [_line(place[above], place[below]) for above, below in drawn]
    boxes = [_box(name, *where) for name, where in place.items()]
    size = f'width="{WIDTH}" height="{ROW * len(rows)}" viewBox="0 0 {WIDTH} {ROW * len(rows)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    title = "<title>Packages of sharc: each imports only what lies below it</title>"
    white = f'<rect width="{WIDTH}" height="{ROW * len(rows)}" fill="white"/>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", white, *lines, *boxes, "</svg>\n"])


def _line(above: tuple[float, float, float], below: tuple[float, float, float]) -> str:
    x1, y1, x2, y2 = above[0], above[1] + BOX / 2, below[0], below[1] - BOX / 2
    bend = (y2 - y1) / 2
    return (
        f'<path class="line" d="M{x1:.1f} {y1:.1f} C{x1:.1f} {y1 + bend:.1f}'
        f' {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"/>'
    )


def _box(name: str, x: float, y: float, width: float) -> str:
    corner = f'x="{x - width / 2:.1f}" y="{y - BOX / 2:.1f}"'
    box = f'<rect class="box" {corner} width="{width}" height="{BOX}" rx="5"/>'
    return f'{box}<text x="{x:.1f}" y="{y:.1f}">{escape(name)}</text>'


if __name__ == "__main__":
    path = ROOT / "docs/layers.svg"
    path.write_text(picture(), encoding="utf-8")
    print(path.relative_to(ROOT))
