"""Every switch between the paper and the authors' code changes what it says it changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch

from mapped_toy import BUFFER, H, K, Maps, T, made, mapped_stream, run
from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.buffers.sharc import SharcBuffer
from sharc.config import load_params
from sharc.config.model import Switches
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.memories.base import Shape
from sharc.memories.bayes_pcn import BayesPCN
from sharc.registry import load
from sharc.saliency import masks
from sharc.trainer.train import train

AT_ONCE = {"recall": "at_store", "stored": "recalled"}
BATCH, HELD = 10, 20  # at theta 0.8 five times the four slots of a task


@pytest.fixture(scope="module")
def stream() -> TaskStream:
    return mapped_stream()


def buffer_of(stream: TaskStream, memory: str = "oracle", **sharc: Any) -> SharcBuffer:
    """The buffer of a finished run."""
    kept: list[SharcBuffer] = []

    def make(*given: Any) -> SharcBuffer:
        buffer = made(memory, **sharc)(*given)
        assert isinstance(buffer, SharcBuffer)
        kept.append(buffer)
        return buffer

    train(stream, [RunSpec(0, BUFFER, 0.8)], load("method", "mer"), {}, make)
    return kept[0]


@contextmanager
def forgetting_counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    acts: list[float] = []
    original = BayesPCN.forget

    def counted(memory: BayesPCN) -> None:
        acts.append(memory.options.forget_rate)
        original(memory)

    monkeypatch.setattr(BayesPCN, "forget", counted)
    yield acts


def test_budget_count_nonzero_fits_twice_as_many_maps_that_are_half_zeros(
    stream: TaskStream,
) -> None:
    maps = torch.ones(len(stream.y), H, H, K)
    maps[..., ::2] = 0
    half = replace(stream, maps=Maps(maps))
    kept, nonzero = (
        run(half, "mer", "none", theta=0.0, budget_count=count)[0].ledger["items"]
        for count in ("kept", "nonzero")
    )
    assert (kept, nonzero) == (BUFFER, 2 * BUFFER)


def test_saliency_relu_ge_drops_what_counts_against_a_class_first() -> None:
    rows = torch.tensor([[-3.0, 1.0, 2.0, -0.5]])
    assert masks(rows, 0.5, "abs_gt").tolist() == [[True, False, True, False]]
    assert masks(rows, 0.5, "relu_ge").tolist() == [[False, True, True, False]]


def test_write_scope_last_batches_writes_one_batch_where_stored_writes_all(
    stream: TaskStream,
) -> None:
    stored = buffer_of(stream, write_scope="stored").ledger(0)["parts"]["memory_weights"]
    last = buffer_of(stream, write_scope="last_batches", recall_scope="last_batches").ledger(0)
    assert stored["floats"] == T * HELD * K * H * H
    assert last["parts"]["memory_weights"]["floats"] == T * BATCH * K * H * H


def test_recall_scope_last_batches_leaves_the_gaps_of_older_examples(stream: TaskStream) -> None:
    whole, part = (
        buffer_of(stream, recall_scope=scope, stored="recalled")
        for scope in ("all", "last_batches")
    )
    for buffer, filled in ((whole, HELD), (part, BATCH)):
        assert buffer.replay is not None
        replay = buffer.replay.x[0]
        gaps = (replay == 0).float().mean(dim=1)  # a recalled map is zero almost nowhere
        first = gaps[buffer.replay.task_slices[0]]
        assert int((first < 0.5).sum()) == filled


def test_recall_at_store_comes_before_the_task_is_forgotten(stream: TaskStream) -> None:
    errors = {}
    for name, sharc in (("at_store", AT_ONCE), ("task_start", {"recall": "task_start"})):
        make = made("bayes_pcn", {"beta": 1.0}, **sharc)
        (result,) = train(stream, [RunSpec(0, BUFFER, 0.8)], load("method", "mer"), {}, make)
        errors[name] = result.recall[0]["mse"] / result.recall[0]["zero_fill_mse"]
    assert errors["at_store"] < 0.7
    assert errors["task_start"] > 0.9  # beta 1 erased the task before it was recalled


def test_stored_recalled_recalls_an_example_once_and_masked_before_every_task(
    stream: TaskStream,
) -> None:
    (once,) = run(stream, "mer", "oracle", stored="recalled")
    (again,) = run(stream, "mer", "oracle", stored="masked")
    assert [(e["task"], e["after"]) for e in once.recall] == [(0, 0), (1, 1)]
    assert [(e["task"], e["after"]) for e in again.recall] == [(0, 0), (0, 1), (1, 1)]


def test_what_is_stored_masked_cannot_be_recalled_at_store(stream: TaskStream) -> None:
    with pytest.raises(UserError, match="would throw away what it recalls"):
        run(stream, recall="at_store", stored="masked")


def test_forget_write_forgets_before_every_batch(
    stream: TaskStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    with forgetting_counted(monkeypatch) as acts:
        run(stream, "mer", "bayes_pcn", forget="task")
        assert len(acts) == T
        acts.clear()
        run(stream, "mer", "bayes_pcn", forget="write")
        assert len(acts) == T * HELD // BATCH


def test_read_joint_adam_moves_a_free_entry_by_about_its_rate_at_each_step() -> None:
    torch.manual_seed(0)
    maps, labels = 30 * torch.rand(6, 24), torch.zeros(6, dtype=torch.long)
    kept = torch.zeros(6, 24, dtype=torch.bool)
    kept[..., :12] = True
    found = {}
    for read in ("collapsed", "joint_adam"):
        options = BayesPCN.Options(hidden=16, steps=100, read=read)
        memory = BayesPCN(Shape(1, 24), options)
        memory.write(maps, labels)
        found[read] = memory.recall(torch.where(kept, maps, 0), kept, labels)[~kept]
    assert found["joint_adam"].abs().max() < 1.5  # 100 steps of 0.01
    assert found["collapsed"].abs().max() > 10


def test_er_replay_sampled_draws_where_full_takes_all() -> None:
    er = load("method", "er")
    assert [er.replay_mode(er.complete({"replay": mode})) for mode in ("full", "sampled")] == [
        "all",
        "sampled",
    ]


def final(method: str, **options: Any) -> Any:
    (result,) = train(toy_stream(), [RunSpec(0, 30)], load("method", method), options, DenseBuffer)
    return result


def test_mer_with_beta_and_gamma_one_is_er_with_a_draw_and_half_of_either_is_not() -> None:
    plain = final("er", replay="sampled").accuracy.class_il
    matches = {
        (beta, gamma): bool((final("mer", beta=beta, gamma=gamma).accuracy.class_il[-1] ==
                             plain[-1]).all())
        for beta, gamma in ((1.0, 1.0), (0.05, 1.0), (1.0, 0.05))
    }  # fmt: skip
    assert matches == {(1.0, 1.0): True, (0.05, 1.0): False, (1.0, 0.05): False}


def test_clser_head_says_whose_accuracy_counts() -> None:
    stable, working = final("clser", head="stable"), final("clser", head="working")
    assert (stable.heads["working"].class_il[-1] == working.accuracy.class_il[-1]).all()
    assert (working.heads["stable"].class_il[-1] == stable.accuracy.class_il[-1]).all()


def test_the_presets_are_nothing_but_values_and_paper_is_the_default() -> None:
    params = load_params()
    assert params.protocol == "paper"
    differ = {
        name
        for name in Switches.model_fields
        if getattr(params.protocols.paper, name) != getattr(params.protocols.reference, name)
    }
    assert differ == set(Switches.model_fields) - {"er_replay", "mer_beta", "clser_head"}
