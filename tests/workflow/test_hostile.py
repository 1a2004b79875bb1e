"""Hostile and broken files: refused by name or taken for stale; nothing in them is executed."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sharc.artifacts.arrays import mapped, save
from sharc.artifacts.digests import digest
from sharc.artifacts.files import read_json, sha256_of
from sharc.artifacts.receipts import Receipt, read_receipt
from sharc.artifacts.runs import Wanted, is_current, key_file
from sharc.errors import UserError
from sharc.features.streams import load_stream
from sharc.results.records import checked

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
MANY = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
DEEP = b"[" * 100_000


class Trap:
    """An object that leaves a mark when somebody unpickles it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch {self.mark}",)


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def understood(read: Any, path: Path) -> Any:
    """What a reader makes of a file; None if it refuses it by name."""
    try:
        return read(path)
    except UserError as error:
        assert path.name in str(error) or str(path.parent) in str(error)
        return None


def test_a_pickle_in_place_of_tensors_is_refused_and_not_executed(tmp_path: Path):
    mark, path = tmp_path / "mark", tmp_path / "train.safetensors"
    path.write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(UserError, match=r"train\.safetensors is damaged"):
        mapped(path)
    assert not mark.exists()
    os.system(f"touch {mark}")  # the trap itself works
    assert mark.exists()


@MANY
@given(content=st.binary(max_size=200))
@example(content=DEEP)
@example(content=b"\xff" * 40)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "receipt.json"
    path.write_bytes(content)
    understood(read_json, path)
    assert read_receipt(path) is None or isinstance(read_receipt(path), Receipt)
    assert not is_current(Wanted(path, "key", {}))
    understood(checked, path)


@MANY
@given(content=JSON)
def test_any_json_is_a_sound_receipt_or_none(tmp_path: Path, content: Any):
    assert read_receipt(write(tmp_path / "receipt.json", content)) is None
    fields = {"key": "k", "outputs": content, "failed": {}}
    receipt = read_receipt(write(tmp_path / "receipt.json", fields))
    mismatch = receipt.first_mismatch() if receipt else None
    assert mismatch is None or "is missing" in mismatch


@pytest.mark.parametrize("name", ["/etc/passwd", "../../secret", "data/../../secret", "a/.."])
def test_a_receipt_that_names_files_outside_the_project_is_none(tmp_path: Path, name: str):
    path = write(tmp_path / "receipt.json", {"key": "k", "outputs": {name: "0"}, "failed": {}})
    assert read_receipt(path) is None


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "\ud800", ""])
def test_a_name_no_file_can_have_is_a_missing_file(name: str):
    assert "is missing" in str(Receipt("k", {name: "0"}).first_mismatch())


@MANY
@given(content=JSON, field=st.sampled_from(["status", "accuracy", "schema"]), note=JSON)
def test_a_run_record_with_any_field_replaced_is_never_current(
    tmp_path: Path, content: Any, field: str, note: Any
):
    record = {"status": "ok", "accuracy": {}, "schema": 1}
    path = write(tmp_path / "seed0.json", record)
    write(key_file(path), {"key": "k", "sha256": sha256_of(path)})
    assert is_current(Wanted(path, "k", {}))
    assert not is_current(Wanted(path, "another", {}))
    write(path, record | {field: [content]})
    assert not is_current(Wanted(path, "k", {}))
    write(key_file(path), note)
    assert not is_current(Wanted(path, "k", {}))
    understood(checked, path)


META = {
    "views": [0],
    "map_shape": [2, 2, 3],
    "classes": ["a", "b"],
    "items": {"train": 2, "test": 2},
    "chunk_rows": 64,
    "chunks": {},
    "settings": {},
}


@MANY
@given(content=JSON, field=st.sampled_from([*META, "whole"]))
def test_any_description_of_features_is_refused_by_name(tmp_path: Path, content: Any, field: str):
    write(tmp_path / "meta.json", content if field == "whole" else META | {field: content})
    split = write(tmp_path / "split.json", {"tasks": []})
    with pytest.raises(UserError):
        load_stream(tmp_path, split)


@MANY
@given(content=JSON, field=st.sampled_from(["dtype", "shape", "data_offsets", "whole"]))
@example(content=[1182, 12903813, "00"], field="shape")  # a text, 30 GB long when multiplied
def test_any_header_of_a_chunk_of_features_is_refused(tmp_path: Path, content: Any, field: str):
    entry = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
    header = content if field == "whole" else {"pooled": entry | {field: content}}
    text = json.dumps(header).encode()
    chunk = tmp_path / "train-view0-0000.safetensors"
    chunk.write_bytes(len(text).to_bytes(8, "little") + text + b"1234")
    write(tmp_path / "meta.json", META)
    with pytest.raises(UserError):
        load_stream(tmp_path, write(tmp_path / "split.json", {"tasks": []}))


@pytest.mark.parametrize("offsets", [[-4, 0], [4, 0], [0, 8]])
def test_a_tensor_that_does_not_lie_within_its_data_is_refused(tmp_path: Path, offsets: list[int]):
    text = json.dumps({"x": {"dtype": "U8", "shape": [4], "data_offsets": offsets}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"1234")
    with pytest.raises(UserError, match="damaged"):
        mapped(path)


@MANY
@given(at=st.integers(0, 200), bit=st.integers(0, 7))
def test_a_flipped_bit_of_a_tensor_file_raises_nothing_but_a_refusal(
    tmp_path: Path, at: int, bit: int
):
    import numpy as np

    path = tmp_path / "x.safetensors"
    save(path, {"x": np.arange(12, dtype=np.float32).reshape(3, 4)})
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 1 << bit
    path.write_bytes(content)
    understood(mapped, path)


def test_a_change_within_one_tick_of_the_clock_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    path = Path("artifact")
    for number in range(200):
        path.write_bytes(b"right")
        times = path.stat()
        right = digest(path)
        path.write_bytes(b"wrong")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert digest(path) != right, number
