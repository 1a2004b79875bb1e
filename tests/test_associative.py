"""SHARC as a buffer: what it stores, what it replays, what it says it holds."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from mapped_toy import BUFFER, SMALL, H, K, T, dense, made, mapped_stream, run, same
from sharc.buffers.budget import DoesNotFitError
from sharc.buffers.dense import DenseBuffer
from sharc.buffers.reference import ReferenceBuffer
from sharc.buffers.sharc import SharcBuffer
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.options.base import parsed
from sharc.options.methods import MethodOptions
from sharc.options.storage import StorageOptions
from sharc.registry import MEMORIES, METHODS, load, replays
from sharc.trainer.train import train


@pytest.fixture(scope="module")
def stream() -> TaskStream:
    return mapped_stream()


@pytest.mark.parametrize("method", sorted(filter(replays, METHODS)))
def test_dropping_nothing_is_the_plain_method_bit_for_bit(stream: TaskStream, method: str) -> None:
    (plus,) = run(stream, method, "bayes_pcn", theta=0.0)
    plain = dense(stream, method)
    assert same(plus, plain)
    assert plus.ledger["counted_floats"] == plain.ledger["counted_floats"]
    assert plus.recall == []


@pytest.mark.parametrize("memory", sorted(set(MEMORIES) - {"pooled"}))
def test_dropping_nothing_needs_no_memory(stream: TaskStream, memory: str) -> None:
    assert same(run(stream, "er", memory, theta=0.0)[0], dense(stream))


@pytest.mark.parametrize("memory", sorted(set(MEMORIES) - {"pooled"}))
def test_every_memory_serves_a_method(stream: TaskStream, memory: str) -> None:
    (result,) = run(stream, "mer", memory)
    assert result.status == "ok"
    assert {(e["task"], e["after"], e["age"]) for e in result.recall} == {
        (0, 0, 0),
        (0, 1, 1),
        (1, 1, 0),
    }


@pytest.mark.parametrize("memory", ["bayes_pcn", "modern_hopfield"])
def test_a_run_is_the_same_bits_alone_or_stacked(stream: TaskStream, memory: str) -> None:
    together = run(stream, "mer", memory, seeds=(0, 1, 2))
    (alone,) = run(stream, "mer", memory, seeds=(1,))
    assert same(together[1], alone)
    assert together[1].recall == alone.recall


def test_at_eight_tenths_five_times_as_many_fit_in_the_same_numbers(stream: TaskStream) -> None:
    (result,) = run(stream, theta=0.8)
    kept = 8  # of 40 channels: rank ceil(39 * 0.8) = 32
    assert result.ledger["items"] == T * (4 * 40 // kept)
    assert result.ledger["counted_floats"] == result.ledger["items"] * kept * H * H
    assert result.ledger["counted_floats"] <= BUFFER * K * H * H


@pytest.mark.parametrize("saliency", ["abs_gt", "relu_ge", "random"])
@pytest.mark.parametrize("budget_count", ["kept", "nonzero"])
@pytest.mark.parametrize("theta", [0.3, 0.8, 1.0])
def test_no_rule_exceeds_the_budget(
    stream: TaskStream, saliency: str, budget_count: str, theta: float
) -> None:
    (result,) = run(stream, "mer", "none", theta, saliency=saliency, budget_count=budget_count)
    assert result.ledger["items"] >= T
    if budget_count == "kept":
        assert result.ledger["counted_floats"] <= BUFFER * K * H * H


@pytest.mark.parametrize(
    ("memory", "theta", "sharc"),
    [
        (None, None, {}),
        ("pooled", 0.0, {}),
        ("mean", 0.8, {}),
        ("mean", 0.8, {"recall": "at_store", "stored": "recalled"}),
        ("mean", 0.8, {"write_scope": "last_batches", "recall_scope": "last_batches"}),
    ],
)
def test_from_the_second_tasks_begin_on_every_buffer_replays_exactly_the_past_tasks(
    stream: TaskStream, memory: str | None, theta: float | None, sharc: dict[str, str]
) -> None:
    make = made(memory, **sharc) if memory else DenseBuffer
    buffer = make(stream, [RunSpec(0, BUFFER, theta)], MethodOptions())
    head = Head(torch.randn(1, 2 * T, K), torch.zeros(1, 2 * T))
    for task, examples in enumerate(stream.train_tasks):
        order = examples.view(2, -1).T.flatten()  # both classes in turn
        buffer.begin_task(task, head, order[None], batch=10)
        assert (buffer.replay is None) == (task == 0)
        if buffer.replay is not None:
            assert buffer.replay.y.unique().tolist() == list(range(2 * task))
            assert len(buffer.replay.task_slices) == task
        for step in buffer.captures:
            buffer.observe(step, None, head)
        buffer.end_task(task, head)


def test_perfect_recall_replays_what_whole_storage_would(stream: TaskStream) -> None:
    (plus,) = run(stream, memory="oracle", theta=0.8)
    plain = dense(stream, buffer=5 * BUFFER)
    torch.testing.assert_close(
        torch.tensor(plus.accuracy.class_il[-1]), torch.tensor(plain.accuracy.class_il[-1])
    )
    assert all(entry["mse"] < 1e-6 for entry in plus.recall)


def test_recall_errors_of_no_memory_are_those_of_zero_fill(stream: TaskStream) -> None:
    (result,) = run(stream, memory="none")
    for entry in result.recall:
        assert entry["mse"] == pytest.approx(entry["zero_fill_mse"], rel=1e-3)
        assert entry["mean_fill_mse"] < entry["zero_fill_mse"]
        assert 0 <= entry["accuracy"] <= 100


def test_the_ledger_counts_the_memory_the_paper_leaves_out(stream: TaskStream) -> None:
    parts = run(stream, memory="bayes_pcn")[0].ledger["parts"]
    d = K * H * H
    assert parts["memory_weights"]["floats"] == 24 * d + 24 * 24 + 24 + 1
    assert parts["memory_prior"]["floats"] == 24 * d + 24 + 1
    assert parts["indices"]["bytes"] == 60 * 5  # one bit for each of 40 channels


def test_at_equal_bytes_a_growing_memory_leaves_room_for_fewer_examples(stream: TaskStream) -> None:
    (result,) = run(stream, memory="modern_hopfield", budget="total_bytes")
    assert T <= result.ledger["items"] < BUFFER
    assert result.ledger["total_bytes"] <= dense(stream).ledger["total_bytes"]


def test_a_memory_larger_than_the_buffer_says_that_it_does_not_fit(stream: TaskStream) -> None:
    with pytest.raises(DoesNotFitError, match=r"BayesPCN alone holds .* not one example per task"):
        run(stream, memory="bayes_pcn", budget="total_bytes")


def test_pooled_storage_holds_as_many_more_as_a_map_has_positions(stream: TaskStream) -> None:
    (pooled,) = run(stream, memory="pooled", theta=0.0)
    assert pooled.ledger["items"] == BUFFER * H * H
    assert pooled.ledger["counted_floats"] == BUFFER * H * H * K
    assert same(pooled, dense(stream, buffer=BUFFER * H * H))


def test_pooled_storage_drops_no_channels(stream: TaskStream) -> None:
    with pytest.raises(UserError, match="pooled drops no channels: use theta 0"):
        run(stream, memory="pooled", theta=0.8)


REFERENCE = {
    "budget_count": "nonzero",
    "stored": "recalled",
    "recall": "at_store",
    "recall_scope": "last_batches",
    "write_scope": "last_batches",
    "forget": "write",
    "saliency": "relu_ge",
}


def test_the_authors_switches_recall_once_and_only_the_last_batches(stream: TaskStream) -> None:
    (result,) = run(stream, "mer", "bayes_pcn", **REFERENCE)
    assert result.status == "ok"
    assert {entry["age"] for entry in result.recall} == {0}
    parts = result.ledger["parts"]
    whole = result.ledger["items"] * K * H * H
    assert parts["values"]["floats"] + parts["recalled"]["floats"] == whole


def test_a_pooled_memory_needs_no_maps(stream: TaskStream) -> None:
    (result,) = run(replace(stream, maps=None), "mer", "bayes_pcn", space="pooled")
    assert result.ledger["parts"]["memory_weights"]["floats"] < 24 * K * H * H
    with pytest.raises(UserError, match="hold no maps"):
        run(replace(stream, maps=None), "mer", "bayes_pcn")


def test_a_wrong_switch_names_its_neighbour() -> None:
    for wrong, said in (({"forget_evry": 2}, "forget_every"), ({"space": "poled"}, "pooled")):
        with pytest.raises(UserError, match=f"Did you mean '{said}'"):
            parsed(StorageOptions, wrong, "sharc")


@pytest.mark.parametrize("memory", ["bayes_pcn", "oracle"])
def test_the_authors_buffer_with_the_papers_switches_is_algorithm_1_bit_for_bit(
    stream: TaskStream, memory: str
) -> None:
    kind = load("memory", memory)
    options = kind.Options(**SMALL.get(memory, {}))
    results = [
        train(
            stream,
            [RunSpec(seed, BUFFER, 0.8) for seed in (0, 1)],
            load("method", "derpp"),
            {},
            partial(buffer, memory=kind, memory_options=options),
        )
        for buffer in (SharcBuffer, ReferenceBuffer)
    ]
    for paper, reference in zip(*results, strict=True):
        assert same(paper, reference)
        assert (paper.recall, paper.ledger) == (reference.recall, reference.ledger)


def test_random_masks_keep_as_many_channels_but_others(stream: TaskStream) -> None:
    chosen, random, again = (
        run(stream, "mer", "none", saliency=rule)[0] for rule in ("abs_gt", "random", "random")
    )
    assert random.ledger == chosen.ledger
    assert random.recall != chosen.recall
    assert random.recall == again.recall
