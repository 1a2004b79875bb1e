"""What the episodic memory keeps, replays and owns up to."""

from dataclasses import replace

import pytest
import torch

from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.buffers.selection import batch_prefix, last, prefixes_that_fit, reservoir, ring
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.sampling import replay_indices, without_replacement
from sharc.errors import UserError
from sharc.options.methods import MethodOptions
from sharc.strategies.base import task_weights


def head_for(runs: int) -> Head:
    return Head(torch.randn(runs, 6, 12), torch.zeros(runs, 6))


def test_last_keeps_the_last_examples() -> None:
    assert last(torch.zeros(10), 3, 0, 0, 10).tolist() == [7, 8, 9]


def test_batch_prefix_lets_in_as_many_of_a_batch_as_it_puts_out() -> None:
    # Room for 5, batches of 4: 0-3 come in; for 4-7 three must go, so 4, 5, 6 come in; and so on.
    assert batch_prefix(torch.zeros(12), 5, 0, 0, 4).tolist() == [6, 8, 9, 10]
    assert last(torch.zeros(12), 5, 0, 0, 4).tolist() == [7, 8, 9, 10, 11]


def test_batch_prefix_is_the_last_m_where_batches_fill_the_room() -> None:
    assert batch_prefix(torch.zeros(12), 8, 0, 0, 4).tolist() == list(range(4, 12))


def test_the_first_batch_is_stored_whatever_it_costs_and_a_hopeless_one_is_dropped() -> None:
    costs = torch.tensor([5, 5, 1, 1, 9, 9, 1, 2])
    # 0, 1 cost 10 of 6; 2, 3 put both out; 4, 5 can never fit; 6, 7 fit with 2, 3.
    assert prefixes_that_fit(costs, 6, 2).tolist() == [2, 3, 6, 7]
    # With room for 4, making place for 6, 7 puts 2 out, and 6 alone comes in for it.
    assert prefixes_that_fit(costs, 4, 2).tolist() == [3, 6]


def test_ring_keeps_the_last_of_each_class_evenly() -> None:
    labels = torch.tensor([0, 1, 0, 1, 0, 0, 0])
    assert ring(labels, 4, 0, 0, 10).tolist() == [1, 3, 5, 6]
    assert ring(labels, 5, 0, 0, 10).tolist() == [1, 3, 4, 5, 6]  # class 1 has no third


def test_reservoir_keeps_every_example_equally_often() -> None:
    kept = torch.zeros(20)
    for seed in range(600):
        positions = reservoir(torch.zeros(20), 5, seed, 0, 10)
        assert len(positions.unique()) == 5
        kept[positions] += 1
    expected, sd = 600 * 5 / 20, (600 * 0.25 * 0.75) ** 0.5
    assert ((kept - expected).abs() < 4 * sd).all()


def test_subsets_never_repeat_and_draw_every_member_equally_often() -> None:
    drawn = without_replacement(7, 7000, 3, torch.Generator().manual_seed(0))
    assert all(len(set(row)) == 3 for row in drawn.tolist())
    counts = drawn.flatten().bincount(minlength=7)
    assert ((counts - 3000).abs() < 4 * (7000 * 3 / 7 * 4 / 7) ** 0.5).all()


def test_replayed_rows_are_examples_of_the_run_never_empty_slots() -> None:
    valid = torch.tensor([True, False, True, True, False])
    rows = replay_indices(0, 1, valid, steps=50, draws=2, size=2)
    assert rows.shape == (50, 4)
    assert set(rows.flatten().tolist()) == {0, 2, 3}


def test_a_dense_buffer_replays_the_last_m_of_each_past_task() -> None:
    stream = toy_stream()
    buffer = DenseBuffer(stream, [RunSpec(0, 9), RunSpec(1, 9)], MethodOptions())
    for task in range(2):
        order = stream.train_tasks[task].flip(0).expand(2, -1)
        buffer.begin_task(task, head_for(2), order, batch=10)
        assert not buffer.captures  # the order alone says what is kept
        buffer.end_task(task, head_for(2))
    assert buffer.replay is not None
    assert buffer.replay.task_slices == [slice(0, 3), slice(3, 6)]
    expected = stream.x[[2, 1, 0, 62, 61, 60]]
    assert torch.equal(buffer.replay.x[1], expected)
    assert buffer.replay.y[0].tolist() == [0, 0, 0, 2, 2, 2]
    assert buffer.replay.valid is None


def test_logits_are_captured_at_the_step_that_sees_the_example() -> None:
    stream = toy_stream()
    buffer = DenseBuffer(stream, [RunSpec(0, 9)], MethodOptions(), wants_logits=True)
    order = stream.train_tasks[0][None]
    buffer.begin_task(0, head_for(1), order, batch=2)
    assert sorted(buffer.captures) == [28, 29]  # examples 57, 58, 59 of 60, two a step
    for step in buffer.captures:
        rows = torch.tensor([[2.0 * step], [2.0 * step + 1]])
        buffer.observe(step, rows.expand(1, 2, 6), head_for(1))
    buffer.end_task(0, head_for(1))
    assert buffer.replay is not None
    assert buffer.replay.logits is not None
    assert buffer.replay.logits[0, :, 0].tolist() == [57.0, 58.0, 59.0]


def test_runs_with_different_budgets_share_a_stack_with_empty_slots_marked() -> None:
    stream = toy_stream()
    buffer = DenseBuffer(stream, [RunSpec(0, 6), RunSpec(1, 12)], MethodOptions())
    buffer.begin_task(0, head_for(2), stream.train_tasks[0].expand(2, -1), batch=10)
    buffer.end_task(0, head_for(2))
    assert buffer.replay is not None
    assert buffer.replay.valid is not None
    assert buffer.replay.valid.sum(dim=1).tolist() == [2, 4]
    weights = task_weights(buffer.replay).squeeze(2)
    assert weights.tolist() == [[0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]]
    assert [buffer.ledger(run)["items"] for run in (0, 1)] == [2, 4]


def test_the_ledger_counts_whole_maps_labels_and_logits() -> None:
    stream = replace(toy_stream(), map_size=(7, 7))
    buffer = DenseBuffer(stream, [RunSpec(0, 6)], MethodOptions(), wants_logits=True)
    buffer.begin_task(0, head_for(1), stream.train_tasks[0][None], batch=10)
    assert buffer.ledger(0) == {
        "items": 2,
        "parts": {
            "values": {"floats": 2 * 49 * 12, "bytes": 8 * 49 * 12},
            "logits": {"floats": 12, "bytes": 48},
            "labels": {"floats": 2, "bytes": 16},
        },
    }


def test_a_buffer_smaller_than_the_number_of_tasks_is_refused() -> None:
    with pytest.raises(UserError, match="buffer 2 is smaller than the 3 tasks of 'toy'"):
        DenseBuffer(toy_stream(), [RunSpec(0, 2)], MethodOptions())


def test_a_task_smaller_than_its_share_is_kept_whole() -> None:
    stream = toy_stream(examples=10)
    buffer = DenseBuffer(stream, [RunSpec(0, 300)], MethodOptions(buffer_rule="reservoir"))
    buffer.begin_task(0, head_for(1), stream.train_tasks[0][None], batch=10)
    buffer.end_task(0, head_for(1))
    assert buffer.ledger(0)["items"] == 10


def test_a_seed_keeps_its_view_of_the_training_images() -> None:
    plain = toy_stream()
    stream = replace(plain, x=torch.stack([plain.x, plain.x + 100]))
    buffer = DenseBuffer(stream, [RunSpec(4, 9), RunSpec(5, 9)], MethodOptions())
    buffer.begin_task(0, head_for(2), stream.train_tasks[0].expand(2, -1), batch=10)
    buffer.end_task(0, head_for(2))
    assert buffer.replay is not None
    assert torch.equal(buffer.replay.x[1], buffer.replay.x[0] + 100)
