"""Safetensors files written block by block and read as memory maps.

The library's own writer wants every tensor in memory at once, and its reader copies whole
tensors; a data set of a gigabyte and a gather of a few rows need neither.
"""

import json
import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sharc.artifacts.files import write_atomically
from sharc.errors import UserError

Array: TypeAlias = NDArray[Any]

_CODES = {"uint8": "U8", "int64": "I64", "float16": "F16", "float32": "F32"}
_DTYPES = {code: np.dtype(name) for name, code in _CODES.items()}
_ALIGNMENT = 8
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Blocks:
    """A tensor that is written piece by piece along its first axis."""

    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[Array]

    @property
    def n_bytes(self) -> int:
        """Size of the whole tensor on disk."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


def gathered(source: Array, order: Array) -> Blocks:
    """`source[order]` without a second copy of `source` in memory."""
    pieces = (
        source[order[at : at + _BLOCK_ROWS]] for at in range(0, max(len(order), 1), _BLOCK_ROWS)
    )
    return Blocks(str(source.dtype), (len(order), *source.shape[1:]), pieces)


def _header(tensors: Mapping[str, Blocks]) -> bytes:
    """The file's first bytes: length, then JSON padded so that the data starts aligned."""
    entries, at = {}, 0
    for name, tensor in tensors.items():
        end = at + tensor.n_bytes
        entries[name] = {
            "dtype": _CODES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, end],
        }
        at = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return struct.pack("<Q", len(text)) + text


def save(path: Path, tensors: Mapping[str, Array | Blocks]) -> None:
    """Write a safetensors file completely or not at all; equal content gives equal bytes."""
    blocks = {
        name: value if isinstance(value, Blocks) else Blocks(str(value.dtype), value.shape, [value])
        for name, value in tensors.items()
    }
    with write_atomically(path) as partial, partial.open("wb") as handle:
        handle.write(_header(blocks))
        for tensor in blocks.values():
            for piece in tensor.pieces:
                handle.write(np.ascontiguousarray(piece).data)


def mapped(path: Path) -> dict[str, Array]:
    """Every tensor of the file as a read-only memory map: nothing is read until it is indexed."""
    try:
        size = path.stat().st_size
        with path.open("rb") as handle:
            (length,) = struct.unpack("<Q", handle.read(8))
            entries = json.loads(handle.read(min(length, size)))
        return {
            name: _view(path, size, 8 + length, entry)
            for name, entry in entries.items()
            if name != "__metadata__"
        }
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: build it again.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): build it again.") from None
    except (
        ValueError,
        KeyError,
        AttributeError,
        TypeError,
        ArithmeticError,
        struct.error,
    ) as error:
        raise UserError(f"{path} is damaged ({error}): delete it and build it again.") from None


def _view(path: Path, size: int, start: int, entry: dict[str, Any]) -> Array:
    """One tensor of `path`, whose data begin `start` bytes into the file of `size` bytes."""
    at, end = entry["data_offsets"]
    dtype, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
    if not all(isinstance(n, int) for n in shape):  # a text would be repeated, not multiplied
        raise ValueError(f"a shape of {shape}")
    if not 0 <= at <= end:
        raise ValueError(f"data from byte {at} to {end}")
    if start + end > size:
        raise ValueError(f"{size} bytes long, {start + end} expected")
    if math.prod(shape) * dtype.itemsize != end - at:
        raise ValueError(f"a shape of {shape} in {end - at} bytes")
    if at == end:
        return np.empty(shape, dtype)
    return np.memmap(path, dtype=dtype, mode="r", offset=start + at, shape=shape)
