"""Digests of files: computed once per content, and cheap to remember."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from sharc.artifacts import digests


def test_a_digest_is_remembered_without_waiting_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def forbidden(*_: object) -> None:
        raise AssertionError

    monkeypatch.chdir(tmp_path)
    Path("file").write_text("text")
    time.sleep(0.1)  # a file that changed just now is not remembered
    monkeypatch.setattr(os, "fsync", forbidden)
    assert digests.digest(Path("file")) == hashlib.sha256(b"text").hexdigest()
    monkeypatch.setattr(digests, "sha256_of", forbidden)
    assert digests.digest(Path("file")) == hashlib.sha256(b"text").hexdigest()
