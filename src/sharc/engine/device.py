"""The device and the number of threads the engine uses."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from sharc.errors import UserError, unknown

DEVICES = ("auto", "cpu", "cuda")
DTYPES = {"float32": torch.float32, "float64": torch.float64}


def resolve_device(name: str) -> torch.device:
    """The device to use: `auto` is a GPU if there is one."""
    if name not in DEVICES:
        raise UserError(unknown("device", name, DEVICES))
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("device is 'cuda', but there is no GPU here: use 'auto' or 'cpu'.")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


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
