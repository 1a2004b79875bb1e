"""Files that are complete or absent: written under a temporary name, then renamed."""

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sharc.errors import UserError

PARTIAL = ".partial-"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
_BLOCK = 1 << 20


@contextmanager
def write_atomically(path: Path, *, flush: bool = True) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename it to `path` only if the block succeeds.

    Without `flush`, a power failure may leave the name without its data.
    """
    partial = path.with_name(f"{PARTIAL}{uuid.uuid4().hex[:8]}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        if flush:
            with partial.open("rb") as handle:
                os.fsync(handle.fileno())  # a name without its data would look complete
        partial.replace(path)
    except OSError as error:
        raise _message(path, error) from error
    finally:
        with suppress(OSError):  # where nothing can be written there is nothing to remove
            partial.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn a full disk or a read-only folder into a message that names the file."""
    try:
        yield
    except OSError as error:
        raise _message(path, error) from error


def _message(path: Path, error: OSError) -> Exception:
    """A full disk or a read-only folder as a message that says what to do; other errors as is."""
    if error.errno in _NO_ROOM:
        return UserError(
            f"the disk is full: {path} could not be written. Free some space and run again; "
            "finished files are kept."
        )
    if error.errno in _FORBIDDEN:
        return UserError(
            f"{path} cannot be written ({error.strerror}). Make {path.parent}/ writable and run "
            "again; finished files are kept."
        )
    return error


def set_mtime(path: Path, nanoseconds: int) -> None:
    """Set the modification time of an existing file."""
    with explained(path):
        os.utime(path, ns=(nanoseconds, nanoseconds))


def write_text(path: Path, text: str, *, flush: bool = True) -> None:
    """Write `text` to `path`, completely or not at all."""
    with write_atomically(path, flush=flush) as partial:
        partial.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write JSON that is the same bytes for the same content."""
    write_text(path, json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON, or say which file is damaged and what to do about it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{path} does not exist: build it with `snakemake --cores 2 all`."
        ) from None
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, or no UTF-8
        raise UserError(
            f"{path} is damaged ({error}): delete it and run `snakemake --cores 2 all`."
        ) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content, in hexadecimal."""
    return checksum(path, "sha256")


def checksum(path: Path, kind: str) -> str:
    """The md5 or sha256 of a file's content, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, kind).hexdigest()


def digest_of(content: Any) -> str:
    """The sha256 of a JSON-able value, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def remove_partials(folder: Path) -> None:
    """Delete the temporary files that interrupted writers left below `folder`."""
    for leftover in folder.rglob(f"{PARTIAL}*"):
        leftover.unlink(missing_ok=True)
