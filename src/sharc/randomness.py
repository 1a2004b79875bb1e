"""Separate random generators per purpose, so that a method and its "+" form stay paired.

Were one generator shared, the draws of an associative memory would shift the data order of
every later task, and a difference between two methods would mix with a difference in data.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # planning a build derives seeds too, and must not wait for torch
    import torch


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed that depends on the run's seed and the purpose alone."""
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def generator(
    seed: int, *purpose: str | int, device: torch.device | str = "cpu"
) -> torch.Generator:
    """A generator of its own for `purpose` ("order", "init", "replay", "memory", ...)."""
    import torch

    return torch.Generator(device=device).manual_seed(derived_seed(seed, *purpose))
