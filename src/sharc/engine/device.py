"""The device the engine uses, its number of threads, and how much it is given at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

import torch

from sharc.errors import UserError, unknown

DEVICES = ("auto", "cpu", "cuda")
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def resolve_device(name: str, key: str = "train.device") -> torch.device:
    """The device to use: `auto` is a GPU if there is one; `key` says where it is set."""
    if name not in DEVICES:
        raise UserError(unknown("device", name, DEVICES))
    found = None if name == "cpu" else gpu()
    if name == "cuda" and found is None:
        raise UserError(f"{key} is cuda, but there is no GPU here: set it to auto or cpu.")
    return found or torch.device("cpu")


def gpu() -> torch.device | None:
    """The GPU, if there is one."""
    return torch.device("cuda") if torch.cuda.is_available() else None


class AtOnce(NamedTuple):
    """How much a device is best given at once; no result depends on it."""

    weights: float  # bytes of the heads that advance together
    runs: float  # that advance together
    test_rows: int


# A stack's weights should stay in the second-level cache, and so should the logits of test rows:
# at 100 classes and 512 features 15 runs together are a third slower per run than 5.
CPU = AtOnce(weights=1 << 20, runs=30, test_rows=1024)
# On a GPU, computing is cheap next to launching each kernel: all runs that fit into its memory
# advance together; how many fit is found by trying (see `trainer.train`).
GPU = AtOnce(weights=inf, runs=inf, test_rows=8192)


def at_once(device: torch.device) -> AtOnce:
    """What suits a device."""
    return CPU if device.type == "cpu" else GPU


def resolve_dtype(name: str) -> torch.dtype:
    """The number format of features and weights."""
    if name not in DTYPES:
        raise UserError(unknown("dtype", name, DTYPES))
    return DTYPES[name]


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, and treat denormal numbers as zero.

    With one thread a run gives the same bits alone or stacked; with more, how a matrix product
    is divided depends on its size. To use more cores, run cells in parallel, which is also
    faster.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)
