"""A notebook as a page of the site: text, code, and the outputs that were committed with it."""

import base64
from pathlib import Path

import nbformat
from nbconvert import MarkdownExporter


def as_markdown(path: Path) -> str:
    """The notebook with its pictures inside, so that it stays one file."""
    text, resources = MarkdownExporter().from_notebook_node(nbformat.read(path, as_version=4))
    for name, data in resources["outputs"].items():
        inside = f"data:image/png;base64,{base64.b64encode(data).decode()}"
        text = text.replace(f"]({name})", f"]({inside})")
    return str(text)
