"""Every strategy equals its rule by autograd, and keeps the contract all strategies keep."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.registry import METHODS, load
from sharc.strategies.agem import AGEM
from sharc.strategies.base import Strategy
from sharc.strategies.clser import CLSER
from sharc.strategies.derpp import DERpp
from sharc.strategies.er import ER
from sharc.strategies.gem import GEM
from sharc.strategies.joint import Joint
from sharc.strategies.mer import MER
from sharc.strategies.sgd import SGD
from sharc.textbook import sharc as textbook
from sharc.trainer.stacked import StackedTrainer
from sharc.trainer.train import train

EXACT = {"dtype": "float64", "device": "cpu"}
RULES: dict[str, tuple[type[Strategy], dict[str, Any]]] = {
    "sgd": (SGD, {}),
    "er": (ER, {"memory_strength": 0.7}),
    "er_sampled": (ER, {"replay": "sampled", "memory_strength": 0.7}),
    "mer": (MER, {"beta": 0.8, "gamma": 0.5}),
    "gem": (GEM, {}),
    "agem": (AGEM, {}),
    "derpp": (DERpp, {}),
    "clser": (CLSER, {}),
}
CONTRACT: dict[str, tuple[type[Strategy], dict[str, Any]]] = {
    **{name: (load("method", name), {}) for name in METHODS},
    **RULES,
}

# Recording a loss takes a while; test_by_loss stacks fewer runs of what is written as one.
CLOSED = [name for name, (strategy, _) in CONTRACT.items() if strategy.needs_linear_head]


def stack_of(
    stream: TaskStream, runs: list[RunSpec], strategy: type[Strategy], options: dict[str, Any]
) -> StackedTrainer:
    complete = strategy.complete(options)
    exact = stream.to(torch.device("cpu"), getattr(torch, complete["dtype"]))
    buffer = None
    if strategy.replays != "none":
        buffer = DenseBuffer(exact, runs, complete, strategy.wants_logits)
    return StackedTrainer(exact, runs, strategy, complete, buffer)


BUDGETS = {
    "few slots": (12, 12),
    "more rows than features": (33, 33),
    "ragged": (12, 33),  # one memory has empty slots, which must not count
}


@pytest.mark.parametrize("per_task", [2, 12], ids=["6 classes", "36 classes"])
@pytest.mark.parametrize("budgets", BUDGETS.values(), ids=BUDGETS)
@pytest.mark.parametrize("name", RULES)
def test_54_steps_are_the_textbooks(name: str, budgets: tuple[int, int], per_task: int) -> None:
    strategy, options = RULES[name]
    stream = toy_stream(per_task=per_task, examples=72)
    size = 4 if budgets[0] < budgets[1] else 5  # 5 is more than the first task's four slots
    options = {"batch": 4, "replay_batch": size, "learning_rate": 0.2} | EXACT | options
    runs = [RunSpec(3, budgets[0]), RunSpec(4, budgets[1])]
    trainer = stack_of(stream, runs, strategy, options)
    with torch.no_grad(), one_thread():
        results = trainer.train()
    heads = {"stable": trainer.strategy.evaluated(), **trainer.strategy.heads()}
    for i, run in enumerate(runs):
        with one_thread():
            alone = textbook.train(
                name, in_float64(stream), run.seed, run.buffer, strategy.complete(options)
            )
        equal(trainer.head, i, alone.learner.f)
        for average, expected in alone.learner.averages.items():
            equal(heads[average], i, expected)
        found = results[i].accuracy
        for ours, theirs in ((found.class_il, alone.class_il), (found.task_il, alone.task_il)):
            np.testing.assert_allclose(ours[np.tril_indices(3)], np.concatenate(theirs))


def in_float64(stream: TaskStream) -> TaskStream:
    return replace(stream, x=stream.x.double(), test_x=stream.test_x.double())


def equal(head: Head, run: int, layer: torch.nn.Module) -> None:
    torch.testing.assert_close(head.weight[run], layer.weight.data, atol=1e-6, rtol=0)
    torch.testing.assert_close(head.b[run], layer.bias.data, atol=1e-6, rtol=0)


def test_joint_equals_one_epoch_of_autograd_over_everything_with_the_last_smaller_batch() -> None:
    stream = toy_stream(examples=42)  # 126 examples: 31 batches of 4 and one of 2
    stack = stack_of(stream, [RunSpec(5)], Joint, {"batch": 4} | EXACT)
    layer = textbook.train_jointly(in_float64(stream), 5, {"batch": 4, "learning_rate": 0.1})
    with torch.no_grad():
        stack.train()
    equal(stack.head, 0, layer)


@pytest.mark.parametrize("name", CONTRACT)
def test_a_strategy_learns_its_last_task(name: str) -> None:
    strategy, options = CONTRACT[name]
    [result] = train(toy_stream(examples=400), [RunSpec(0, 30)], strategy, options, DenseBuffer)
    assert result.status == "ok"
    learnt = result.heads.get("working", result.accuracy)  # averages lag behind, as they should
    assert learnt.task_il[-1, -1] > 90


@pytest.mark.parametrize("name", CLOSED)
def test_a_strategy_gives_the_same_bits_alone_or_stacked_and_twice(name: str) -> None:
    strategy, options = CONTRACT[name]
    # eleven steps a task: more than whole-memory replay looks ahead
    for stream in (toy_stream(examples=110), toy_stream(per_task=13, examples=117, features=7)):
        runs = [RunSpec(seed, buffer) for seed in range(3) for buffer in (12, 35, 61)]
        together = final_heads(stream, runs, strategy, options)
        for run, (weight, bias) in zip(runs, together, strict=True):
            [(alone, alone_bias)] = final_heads(stream, [run], strategy, options)
            assert torch.equal(weight, alone), f"{run} depends on its stack"
            assert torch.equal(bias, alone_bias), f"{run} depends on its stack"


def final_heads(
    stream: TaskStream, runs: list[RunSpec], strategy: type[Strategy], options: dict[str, Any]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Heads after training through the public entry, read where it records them."""
    found: dict[RunSpec, tuple[torch.Tensor, torch.Tensor]] = {}

    class Spy(strategy):  # type: ignore[misc, valid-type]
        def evaluated(self) -> Any:
            head = super().evaluated()
            found.update(
                (run, (head.weight[i].clone(), head.b[i].clone()))
                for i, run in enumerate(self.runs)
            )
            return head

    train(stream, runs, Spy, {"batch": 5} | options, DenseBuffer)
    return [found[run] for run in runs]


@pytest.mark.parametrize("name", CONTRACT)
def test_a_strategy_never_holds_more_than_its_budget(name: str) -> None:
    strategy, options = CONTRACT[name]
    for result in train(
        toy_stream(), [RunSpec(0, 7), RunSpec(1, 20)], strategy, options, DenseBuffer
    ):
        slots = result.spec.buffer // 3 * 3
        assert result.ledger["items"] == (0 if strategy.replays == "none" else slots)
        assert result.ledger["counted_floats"] == result.ledger["items"] * 12


def test_clser_reports_three_heads_and_counts_two_of_them() -> None:
    [result] = train(toy_stream(), [RunSpec(0, 12)], CLSER, {"head": "plastic"}, DenseBuffer)
    assert set(result.heads) == {"stable", "working"}
    assert result.ledger["parts"]["head_copies"] == {"floats": 2 * 13 * 6, "bytes": 8 * 13 * 6}


def test_mer_with_both_rates_one_is_er_with_a_sampled_batch() -> None:
    runs = [RunSpec(seed, 30) for seed in range(2)]
    er = train(toy_stream(), runs, ER, {"replay": "sampled"}, DenseBuffer)
    mer = train(toy_stream(), runs, MER, {"gamma": 1.0}, DenseBuffer)
    for a, b in zip(er, mer, strict=True):
        np.testing.assert_array_equal(a.accuracy.class_il, b.accuracy.class_il)


@pytest.mark.parametrize(
    ("strategy", "options", "words"),
    [
        (ER, {"replay": "ful"}, "full, sampled"),
        (CLSER, {"head": "stabel"}, "Did you mean 'stable'"),
        (GEM, {"margn": 1}, "Did you mean 'margin'"),
        (SGD, {"dtype": "half"}, "float32, float64"),
        (SGD, {"device": "gpu"}, "auto, cpu, cuda"),
        (ER, {"buffer_rule": "first"}, "last, reservoir, ring"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_legal(
    strategy: type[Strategy], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        train(toy_stream(), [RunSpec(0, 12)], strategy, options, DenseBuffer)
