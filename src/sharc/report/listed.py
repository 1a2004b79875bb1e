"""A listing as plain values for the report's template."""

from typing import Any

from sharc.tables.render import Table


def shown(found: Table) -> dict[str, Any]:
    """A listing's text, each number with the cell whose provenance it opens.

    A column without a single entry is left out: nothing empty is shown.
    """
    numbers = [side == "r" for side in found.align]
    columns = [
        (head, number)
        for head, number in zip(found.text.columns, numbers, strict=True)
        if (found.text[head] != "-").any()
    ]
    texts, lines = found.text.to_dict("records"), found.numbers.to_dict("records")
    rows = [
        [_entry(found, head, number, text[head], line) for head, number in columns]
        for text, line in zip(texts, lines, strict=True)
    ]
    return {
        "name": found.name,
        "title": found.title,
        "folded": found.folded,
        "heads": [{"text": head, "number": number} for head, number in columns],
        "rows": rows,
        "caption": found.caption,
        "notes": found.notes,
    }


def _entry(
    found: Table, head: str, number: bool, text: str, line: dict[str, Any]
) -> dict[str, Any]:
    known = any(letter.isdigit() for letter in text)
    return {
        "text": text,
        "number": number,
        "blank": number and not known,  # sorts last
        "cell": line[found.links[head]] if head in found.links and text != "-" else "",
        "verdict": text if head == found.verdict and text != "-" else "",
    }
