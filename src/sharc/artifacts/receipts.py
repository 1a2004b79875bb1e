"""A receipt records what a job read and what it made, and no times.

Equal receipts therefore mean equal work, on any machine, through Snakemake or DVC.
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
    """The digest of all that the job depends on (`key`) and the sha256 of every output."""

    key: str
    outputs: dict[str, str]
    failed: dict[str, str] = field(default_factory=dict)

    def first_mismatch(self) -> str | None:
        """The first output that is not on disk as it was made, and how it differs; or None."""
        for name, expected in self.outputs.items():
            path = Path(name)
            if not os.path.isfile(name):  # noqa: PTH113 - False for any name no file can have
                return f"{name} is missing"
            if digest(path) != expected:
                return f"{name} was modified"
        return None


def read_receipt(path: Path) -> Receipt | None:
    """The receipt at `path`; None if there is none or it is unreadable."""
    if not path.is_file():
        return None
    try:
        receipt = Receipt(**read_json(path))
    except (UserError, TypeError):
        return None
    return receipt if _is_sound(receipt) else None


def _is_sound(receipt: Receipt) -> bool:
    """Whether all types are right and every path stays inside the project."""
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
    """Write a receipt, the last step of a job."""
    write_json(path, asdict(receipt))
