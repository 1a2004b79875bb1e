"""The figures as data addresses, each with the numbers that it shows."""

import base64
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image

from sharc.artifacts.files import read_json

Json = dict[str, Any]
LEAD = "gains"  # the picture on the first screen


def figures(folder: Path) -> Json:
    """The index of `folder` with each figure's files; the omitted ones with their reason."""
    index: Json = read_json(folder / "index.json")
    for figure in index["figures"]:
        figure.update(narrow="", data="", photographs=figure.get("photographs", False))
        for name in figure["files"]:
            path = folder / name
            if path.stem.endswith("_narrow"):
                figure["narrow"] = _image(path)
            elif name.endswith(".svg"):
                figure.update(_size(path), source=_image(path))
            elif name.endswith(".png") and f"{path.stem}.svg" not in figure["files"]:
                figure.update(_pixels(path), source=_image(path))
            elif name.endswith(".csv"):
                figure["data"] = f"data:text/csv;charset=utf-8,{quote(path.read_text('utf-8'))}"
    return index


def lead(index: Json) -> Json | None:
    """Take the picture of the first screen out of the index, if this suite has it."""
    found = [figure for figure in index["figures"] if figure["name"] == LEAD]
    index["figures"] = [figure for figure in index["figures"] if figure["name"] != LEAD]
    return found[0] if found else None


def _image(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    kind = {".svg": "svg+xml", ".png": "png"}[path.suffix]
    return f"data:image/{kind};base64,{data}"


def _pixels(path: Path) -> dict[str, int]:
    """The same of a PNG, by its resolution."""
    with Image.open(path) as image:
        dots = image.info.get("dpi", (72, 72))
        return {
            name: round(pixels * 72 / dot)
            for name, pixels, dot in zip(("width", "height"), image.size, dots, strict=True)
        }


def _size(path: Path) -> dict[str, int]:
    """The drawing's size in points, so that a page keeps room for it."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', path.read_text("utf-8"))
    width, height = found.groups() if found else ("4", "3")
    return {"width": round(float(width)), "height": round(float(height))}
