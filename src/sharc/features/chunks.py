"""The cache's files: chunks that are complete or absent, and a list of them with their settings.

While the work goes on, `progress.json` names the settings and the digest of every complete chunk;
at the end the same list moves into `meta.json`. A chunk is reused only if its settings are the
current ones and its bytes have the listed digest.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from sharc.artifacts.arrays import Array, save
from sharc.artifacts.files import explained, read_json, remove_partials, sha256_of, write_json
from sharc.errors import UserError

META, PROGRESS = "meta.json", "progress.json"
_CHUNK_BYTES = 64 << 20
_MOST_ROWS, _STEP = 4096, 64


def chunk_rows(map_shape: tuple[int, int, int]) -> int:
    """How many images one chunk holds: about 64 MB of fp16 maps, whatever their size."""
    rows = _CHUNK_BYTES // (2 * int(np.prod(map_shape)))
    return max(_STEP, min(_MOST_ROWS, rows // _STEP * _STEP))


def chunk_name(part: str, number: int) -> str:
    """File name of a chunk of `part` ("test", "train-view0", ...)."""
    return f"{part}-{number:04d}.safetensors"


class CacheFiles:
    """Which chunks of the folder are complete and belong to `settings`."""

    def __init__(self, folder: Path, settings: str) -> None:
        self.folder, self.settings = folder, settings
        folder.mkdir(parents=True, exist_ok=True)
        remove_partials(folder)
        self.chunks: dict[str, str] = {}
        for name in (META, PROGRESS):
            self.chunks |= self._claimed(folder / name)
        self.chunks = {
            name: digest
            for name, digest in sorted(self.chunks.items())
            if (folder / name).is_file() and sha256_of(folder / name) == digest
        }
        (folder / META).unlink(missing_ok=True)  # from here on the folder is not complete
        self._note()

    def _claimed(self, path: Path) -> dict[str, str]:
        """The chunks an earlier list names, if it was kept for the same settings."""
        try:
            content = read_json(path)
            same = content["settings_digest"] == self.settings
            return dict(content["chunks"]) if same else {}
        except (UserError, KeyError, TypeError, ValueError):
            return {}  # absent or damaged: nothing it says can be trusted

    def _note(self) -> None:
        content = {"settings_digest": self.settings, "chunks": self.chunks}
        with explained(self.folder / PROGRESS):
            write_json(self.folder / PROGRESS, content)

    def keep(self, name: str, tensors: dict[str, Array]) -> None:
        """Write a chunk and enter it."""
        save(self.folder / name, tensors)
        self.chunks[name] = sha256_of(self.folder / name)
        self._note()

    def close(self, meta: dict[str, Any], wanted: set[str]) -> None:
        """Drop chunks of other settings or views, then say that the folder is complete."""
        for path in self.folder.glob("*-[0-9][0-9][0-9][0-9].safetensors"):
            if path.name not in wanted:
                path.unlink()
        chunks = {name: self.chunks[name] for name in sorted(wanted)}
        meta = meta | {"settings_digest": self.settings, "chunks": chunks}
        with explained(self.folder / META):
            write_json(self.folder / META, meta)
        (self.folder / PROGRESS).unlink(missing_ok=True)


class Writer:
    """Writes one chunk in the background while the next one is being computed."""

    def __init__(self, write: Callable[[str, dict[str, Array]], None]) -> None:
        self._write = write
        self._thread = ThreadPoolExecutor(1)
        self._pending: Future[None] | None = None

    def put(self, name: str, tensors: dict[str, Array]) -> None:
        """Wait for the chunk before, so that at most two are in memory."""
        self.wait()
        self._pending = self._thread.submit(self._write, name, tensors)

    def wait(self) -> None:
        """Raise what the background write raised."""
        if self._pending is not None:
            self._pending.result()
            self._pending = None

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.wait()
        finally:
            self._thread.shutdown(wait=True)
