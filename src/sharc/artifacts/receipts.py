"""A receipt says what a unit was built from and what came out; it holds no times.

Equal receipts therefore mean equal work, on any machine and through either door.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path

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
            if not path.is_file():
                return f"{name} is missing"
            if digest(path) != expected:
                return f"{name} was altered"
        return None


def read_receipt(path: Path) -> Receipt | None:
    """The receipt at `path`; None if there is none or it cannot be understood."""
    if not path.is_file():
        return None
    try:
        return Receipt(**read_json(path))
    except (UserError, TypeError):
        return None


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write a receipt, the last act of a unit."""
    write_json(path, asdict(receipt))
