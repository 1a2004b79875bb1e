"""Archives and folders read member by member: nothing is ever extracted to the disk.

An entry outside the archive's root, or a link, could do no harm here, but it means that the archive
is not what it should be, so it is refused.
"""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from sharc.errors import UserError

_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, OSError)
Selects = Callable[[str], bool]


def members(path: Path, wanted: Selects) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the wanted files of a tar archive, a zip archive or a folder."""
    if not path.exists():
        raise UserError(f"{path} does not exist")
    if path.is_dir():
        yield from _of_folder(path, wanted)
        return
    try:
        yield from (_of_zip if path.suffix == ".zip" else _of_tar)(path, wanted)
    except _BROKEN as error:
        raise UserError(f"archive {path} is damaged: {error}") from None


def _of_folder(path: Path, wanted: Selects) -> Iterator[tuple[str, bytes]]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if file.is_file() and wanted(name):
            yield name, file.read_bytes()


def _of_tar(path: Path, wanted: Selects) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            _refuse_unsafe(path, member.name, member.isfile() or member.isdir())
            if member.isfile() and wanted(member.name):
                handle = archive.extractfile(member)
                yield member.name, handle.read() if handle else b""


def _of_zip(path: Path, wanted: Selects) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            kind = member.external_attr >> 28  # the Unix file type: 0xA is a link
            _refuse_unsafe(path, member.filename, kind != 0xA)
            if not member.is_dir() and wanted(member.filename):
                yield member.filename, archive.read(member)


def _refuse_unsafe(path: Path, name: str, plain: bool) -> None:
    """Only plain files and folders below the archive's own root."""
    pure = PurePosixPath(name.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts or ":" in pure.parts[0:1]:
        raise UserError(f"archive {path} is refused: its entry {name!r} leaves the archive")
    if not plain:
        raise UserError(f"archive {path} is refused: its entry {name!r} is a link or a device")
