"""Stage train: which runs go together, and what one of them can cost the others."""

from dataclasses import replace
from typing import Any

import pytest

from oracles.toy import toy_stream
from sharc.artifacts.files import read_json
from sharc.registry import load
from sharc.stages import train as stage
from sharc.stages.train import Method, Wanted
from sharc.trainer.selection import candidates
from sharc.trainer.train import train


@pytest.fixture
def calls(monkeypatch):
    """The buffers of every call of the engine; buffer 12 cannot be trained."""
    made: list[list[int]] = []

    def watched(stream, specs, *rest: Any):
        made.append([spec.buffer for spec in specs])
        if 12 in made[-1]:
            raise RuntimeError("no room")
        return train(stream, specs, *rest)

    monkeypatch.setattr(stage, "train", watched)
    monkeypatch.setattr(stage, "load_stream", lambda *_, **__: toy_stream())
    return made


def built(folder, buffers):
    wanted = [
        Wanted(
            folder / f"b{buffer}-{seed}.json",
            "key",
            {"variant": "dense", "memory": None, "theta": None, "buffer": buffer, "seed": seed},
        )
        for buffer in buffers
        for seed in (0, 1)
    ]
    failed = stage.build(folder / "features", folder, wanted, Method(load("method", "er"), {}, {}))
    return {w.path.stem: read_json(w.path)["status"] for w in wanted}, failed


def test_all_cells_without_a_memory_are_trained_in_one_go(tmp_path, calls):
    states, failed = built(tmp_path, (6, 9))
    assert calls == [[6, 6, 9, 9]]
    assert set(states.values()) == {"ok"}
    assert failed == {}


def test_a_cell_that_breaks_is_found_by_training_each_alone(tmp_path, calls):
    states, failed = built(tmp_path, (9, 12))
    assert calls == [[9, 9, 12, 12], [9, 9], [12, 12]]
    assert states == {"b9-0": "ok", "b9-1": "ok", "b12-0": "failed", "b12-1": "failed"}
    assert set(failed.values()) == {"RuntimeError: no room"}


def test_a_record_says_what_its_run_chose_and_from_what(tmp_path, monkeypatch):
    stream = toy_stream()
    held = [index[::4] for index in stream.train_tasks]
    kept = [index[index % 4 != index[0] % 4] for index in stream.train_tasks]
    stream = replace(stream, train_tasks=kept, validation_tasks=held)
    monkeypatch.setattr(stage, "load_stream", lambda *_, **__: stream)
    among = candidates({"learning_rate": [1e-9, 0.1]})
    method = Method(load("method", "er"), {}, {}, among=among)
    identity = {"variant": "dense", "memory": None, "theta": None, "buffer": 9, "seed": 0}
    path = tmp_path / "run.json"
    assert stage.build(tmp_path, tmp_path, [Wanted(path, "key", identity)], method) == {}
    selected = read_json(path)["selected"]["task_il"]
    assert selected["values"] == {"learning_rate": 0.1}
    assert [c["learning_rate"] for c in selected["candidates"]] == [1e-9, 0.1]
