"""Text for LaTeX, and lines as a Markdown table."""

import re

from sharc.results import labels

_TEX = {
    labels.PLUS: "$^{+}$", labels.MINUS: "$-$", "±": r"$\pm$", "≈": r"$\approx$",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "%": r"\%", "_": r"\_", "&": r"\&", "…": r"\dots{}",
}  # fmt: skip


def tex(text: str) -> str:
    """Text for LaTeX; a leading hyphen of a number becomes a minus."""
    text = re.sub(r"(?<![\w-])-(?=\d)", labels.MINUS, str(text))
    return "".join(_TEX.get(letter, letter) for letter in text)


def pipes(heads: list[str], lines: list[list[str]]) -> str:
    """Heads and lines as a Markdown table."""
    head, *rows = ("| " + " | ".join(line) + " |\n" for line in (heads, *lines))
    return head + "|" + "---|" * len(heads) + "\n" + "".join(rows)
