"""A receipt says what a unit was built from and what came out; it holds no times.

Equal receipts therefore mean equal work, on any machine and through either door.
"""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sharc.artifacts.digests import digest
from sharc.artifacts.files import read_json, write_json
from sharc.errors import UserError


@dataclass(frozen=True)
class Receipt:
    """What a unit was built from (`key`) and the sha256 of every file that came out."""

    key: str
    outputs: dict[str, str]
    failed: dict[str, str] = field(default_factory=dict)

    def damage(self) -> str | None:
        """The first thing wrong with the outputs on disk, or None."""
        for name, expected in self.outputs.items():
            path = Path(name)
            if not os.path.isfile(name):  # noqa: PTH113 - False for any name no file can have
                return f"{name} is missing"
            if digest(path) != expected:
                return f"{name} was altered"
        return None


def read_receipt(path: Path) -> Receipt | None:
    """The receipt at `path`; None if there is none or it cannot be understood."""
    if not path.is_file():
        return None
    try:
        receipt = Receipt(**read_json(path))
    except (UserError, TypeError):
        return None
    return receipt if _is_sound(receipt) else None


def _is_sound(receipt: Receipt) -> bool:
    """Whether types are right and no name leads out of the project."""
    return (
        isinstance(receipt.key, str)
        and _of_text(receipt.outputs)
        and _of_text(receipt.failed)
        and not any(_leads_out(PurePosixPath(name)) for name in receipt.outputs)
    )


def _of_text(content: Any) -> bool:
    return isinstance(content, dict) and all(isinstance(text, str) for text in content.values())


def _leads_out(name: PurePosixPath) -> bool:
    return name.is_absolute() or ".." in name.parts


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write a receipt, the last act of a unit."""
    write_json(path, asdict(receipt))
