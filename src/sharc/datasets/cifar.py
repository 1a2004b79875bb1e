"""The official binary CIFAR archives (Krizhevsky 2009): label bytes, then 3 × 32 × 32 pixels.

The better known Python archives are pickles, which would run whatever code they carry.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sharc.datasets.archives import members
from sharc.datasets.raw import Split
from sharc.errors import UserError

BASE = "https://www.cs.toronto.edu/~kriz"
SIDE = 32
MEAN = (0.4914, 0.4822, 0.4465)  # the paper's code uses these for CIFAR-100 as well
STD = (0.2470, 0.2435, 0.2615)
_PIXELS = 3 * SIDE * SIDE


def records(content: bytes, name: str, label_bytes: int) -> Split:
    """Images and labels of one file; the last label byte is the one used (CIFAR-100's fine)."""
    width = label_bytes + _PIXELS
    if not content or len(content) % width:
        raise UserError(f"{name} is {len(content)} bytes long, not a multiple of {width}")
    rows = np.frombuffer(content, dtype=np.uint8).reshape(-1, width)
    planes = rows[:, label_bytes:].reshape(-1, 3, SIDE, SIDE)
    labels = rows[:, label_bytes - 1].astype(np.int64)
    return Split(planes.transpose(0, 2, 3, 1), labels)


def files(archive: Path, wanted: tuple[str, ...]) -> Mapping[str, bytes]:
    """The named members of an archive, by file name."""
    found = {
        name.rpartition("/")[2]: content
        for name, content in members(archive, lambda name: name.rpartition("/")[2] in wanted)
    }
    if missing := [name for name in wanted if name not in found]:
        raise UserError(f"archive {archive} lacks {', '.join(missing)}")
    return found


def joined(splits: list[Split]) -> Split:
    """Several pieces as one split."""
    return Split(
        np.concatenate([split.images for split in splits]),
        np.concatenate([split.labels for split in splits]),
    )
