"""Strategies written as a loss: the three new methods, any head, and what goes wrong."""

import inspect
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mapped_toy import made, mapped_stream
from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.mlp import MLPHead
from sharc.engine.runs import RunSpec
from sharc.engine.sampling import replay_indices, task_order
from sharc.engine.task_stream import TaskStream
from sharc.engine.types import Examples, Model
from sharc.errors import MethodError, UserError
from sharc.randomness import generator
from sharc.registry import METHODS, load, replays
from sharc.strategies.base import Strategy
from sharc.strategies.by_loss import LossStrategy
from sharc.strategies.sgd import SGD
from sharc.textbook.sharc import Classifier
from sharc.trainer.heads import suited
from sharc.trainer.stacked import StackedTrainer
from sharc.trainer.train import train

EXACT = {"dtype": "float64", "device": "cpu", "batch": 4, "replay_batch": 4, "learning_rate": 0.1}


def trained(
    stream: TaskStream, runs: list[RunSpec], strategy: type[Strategy], options: dict[str, Any]
) -> StackedTrainer:
    strategy = suited(strategy, options.get("classifier", "linear"))
    complete = strategy.complete(options)
    exact = stream.to(torch.device("cpu"), getattr(torch, complete["dtype"]))
    buffer = None
    if strategy.replays != "none":
        buffer = DenseBuffer(exact, runs, complete, strategy.wants_logits)
    trainer = StackedTrainer(exact, runs, strategy, complete, buffer)
    with torch.no_grad(), one_thread():
        trainer.train()
    return trainer


class Plain:
    """One run of a method on one linear layer, by autograd: the oracle of all three."""

    def __init__(self, stream: TaskStream, seed: int) -> None:
        self.stream, self.seed, self.task = stream, seed, 0
        self.f = Classifier(stream.n_features, stream.n_classes, seed, torch.float64)
        self.old = deepcopy(self.f)
        self.fisher = [torch.zeros_like(p) for p in self.f.parameters()]
        self.memory = torch.zeros(0, dtype=torch.long)
        self.drawn: tuple[Tensor, Tensor] | None = None

    def train(self, loss: Callable[["Plain", Tensor, Tensor], Tensor]) -> nn.Module:
        x, y = self.stream.x.double(), self.stream.y
        sgd = torch.optim.SGD(self.f.parameters(), lr=0.1)
        for task, examples in enumerate(self.stream.train_tasks):
            self.task = task
            order = task_order(self.seed, self.task, examples)
            steps, there = len(order) // 4, torch.ones(len(self.memory), dtype=torch.bool)
            rows = replay_indices(self.seed, self.task, there, steps, 1, 4) if self.task else []
            for step, index in enumerate(order.split(4)):
                if self.task:
                    at = self.memory[rows[step]]
                    self.drawn = x[at], y[at]
                sgd.zero_grad()
                loss(self, x[index], y[index]).backward()  # type: ignore[no-untyped-call]
                sgd.step()
            self.memory = torch.cat([self.memory, order[-4:]])
            self.end_task(x[order], y[order])
        return self.f

    def end_task(self, x: Tensor, y: Tensor) -> None:
        self.old = deepcopy(self.f)
        self.fisher = [0.5 * f for f in self.fisher]
        for row, label in zip(x, y, strict=True):
            likelihood = self.f(row[None]).log_softmax(1)[0, label]
            parts = torch.autograd.grad(likelihood, list(self.f.parameters()))
            self.fisher = [f + g**2 / len(x) for f, g in zip(self.fisher, parts, strict=True)]


def er_ace(me: Plain, x: Tensor, y: Tensor) -> Tensor:
    """Only the classes in the batch compete for it; all seen so far for what is replayed."""
    here = sorted(set(y.tolist()))
    log_p = me.f(x)[:, here].log_softmax(1)
    loss = -torch.stack([log_p[i, here.index(int(c))] for i, c in enumerate(y)]).mean()
    if me.drawn is not None:
        old_x, old_y = me.drawn
        seen = [c for classes in me.stream.classes[: me.task + 1] for c in classes]
        log_p = me.f(old_x)[:, seen].log_softmax(1)
        loss -= torch.stack([log_p[i, seen.index(int(c))] for i, c in enumerate(old_y)]).mean()
    return loss


def lwf(me: Plain, x: Tensor, y: Tensor) -> Tensor:
    """Eqs. 2 and 3 with T = 2: probabilities to the power 1/T, normalised again."""
    loss = -me.f(x).log_softmax(1)[torch.arange(len(y)), y].mean()
    for classes in me.stream.classes[: me.task]:
        before = me.old(x)[:, classes].softmax(1).detach().sqrt()
        now = me.f(x)[:, classes].softmax(1).sqrt()
        before, now = before / before.sum(1, keepdim=True), now / now.sum(1, keepdim=True)
        loss = loss - 0.7 * (before * now.log()).sum(1).mean()
    return loss


def ewc(me: Plain, x: Tensor, y: Tensor) -> Tensor:
    """A quadratic around the old weights, by the Fisher information, older tasks' decayed."""
    loss = -me.f(x).log_softmax(1)[torch.arange(len(y)), y].mean()
    for w, old, f in zip(me.f.parameters(), me.old.parameters(), me.fisher, strict=True):
        loss = loss + 3.0 / 2 * (0.5 * f * (w - old.detach()) ** 2).sum()
    return loss


NEW: dict[str, tuple[Callable[[Plain, Tensor, Tensor], Tensor], dict[str, float]]] = {
    "er_ace": (er_ace, {}),
    "lwf": (lwf, {"strength": 0.7}),
    "ewc": (ewc, {"strength": 3.0, "decay": 0.5}),
}


@pytest.mark.parametrize("name", NEW)
def test_a_method_by_loss_is_its_papers_rule_by_autograd(name: str) -> None:
    oracle, options = NEW[name]
    stream = toy_stream(per_task=3, examples=60)
    trainer = trained(stream, [RunSpec(3, 12), RunSpec(4, 12)], load("method", name),
                      EXACT | options)  # fmt: skip
    for run, seed in enumerate((3, 4)):
        with one_thread():
            f = Plain(stream, seed).train(oracle)
        for ours, theirs in zip(trainer.head.parameters.values(), f.parameters(), strict=True):
            torch.testing.assert_close(ours[run], theirs.detach(), atol=1e-9, rtol=0)


def test_what_replays_nothing_has_no_buffer_and_its_ledger_holds_what_it_keeps() -> None:
    size = 13 * 6
    for name, parts in (("lwf", {"head_copies": size}),
                        ("ewc", {"head_copies": size, "importance": size})):  # fmt: skip
        assert not replays(name)
        [result] = train(toy_stream(), [RunSpec(0)], load("method", name), {}, DenseBuffer)
        found = {part: held["floats"] for part, held in result.ledger["parts"].items()}
        assert (result.ledger["items"], found) == (0, parts)


@pytest.mark.parametrize("head", ["linear", "mlp"])
@pytest.mark.parametrize("name", ["er_ace", "lwf", "ewc", "er", "gem", "derpp"])
def test_a_run_by_loss_is_the_same_bits_alone_and_stacked(name: str, head: str) -> None:
    strategy, options = load("method", name), {"classifier": head, "hidden": 20, "batch": 5}
    for stream in (toy_stream(examples=60), toy_stream(per_task=13, examples=65, features=7)):
        runs = [RunSpec(seed, 12) for seed in range(3)]
        together = trained(stream, runs, strategy, options).head.parameters
        for index, run in enumerate(runs):
            alone = trained(stream, [run], strategy, options).head.parameters
            for part in together:
                assert torch.equal(together[part][index], alone[part][0]), f"{run}, {part}"


class Blobs(LossStrategy):
    """ER by loss, with a memory of 30."""

    replays = "sampled"

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        parts = [nn.functional.cross_entropy(p.logits, p.labels) for p in (new, *replayed)]
        return torch.stack(parts).sum()


def test_a_hidden_layer_learns_what_a_linear_head_cannot() -> None:
    """Two classes on opposite sides of the origin each: no line separates them."""
    g = torch.Generator().manual_seed(0)
    y = torch.arange(4).repeat_interleave(200)
    sign = torch.where(torch.rand(800, generator=g) < 0.5, -1.0, 1.0)
    centres = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    x = 2 * centres[y] * sign[:, None] + 0.1 * torch.randn(800, 2, generator=g)
    tasks = [torch.arange(400), torch.arange(400, 800)]
    stream = TaskStream(x, y, tasks, x, y, tasks, [[0, 1], [2, 3]], 4)
    found = {
        head: train(
            stream, [RunSpec(0, 30)], Blobs, {"classifier": head, "hidden": 32}, DenseBuffer
        )[0]
        for head in ("linear", "mlp")
    }
    assert found["linear"].accuracy.task_il[1, 1] < 80
    assert found["mlp"].accuracy.task_il[1, 1] > 95


def test_the_saliency_of_a_hidden_layer_is_eq_3_on_the_maps_channel_by_channel() -> None:
    head = MLPHead.initial(
        [generator(seed, "init") for seed in (0, 1)], (12, 8, 5), torch.zeros(())
    )
    maps = torch.rand(4, 7, 7, 12, generator=torch.Generator().manual_seed(0))
    run, label = torch.tensor([0, 1, 1, 0]), torch.tensor([0, 3, 3, 4])
    found = head.saliency(run, label, maps.mean(dim=(1, 2))) / 49
    for i in range(4):
        weights = {name: value[run[i]] for name, value in head.parameters.items()}
        a = maps[i].clone().requires_grad_()
        score = MLPHead.apply(weights, a.mean(dim=(0, 1))[None])[0, label[i]]
        (gradient,) = torch.autograd.grad(score, a)
        torch.testing.assert_close(found[i], gradient.mean(dim=(0, 1)))


@pytest.mark.parametrize("memory", ["oracle", "bayes_pcn"])
@pytest.mark.parametrize("head", ["linear", "mlp"])
@pytest.mark.parametrize("method", ["er_ace", "er"])
def test_sharc_keeps_the_channels_that_matter_to_any_head(
    method: str, head: str, memory: str
) -> None:
    stream, options = mapped_stream(), {"learning_rate": 0.05, "classifier": head, "hidden": 16}
    runs = [RunSpec(seed, 12, 0.8) for seed in (0, 1)]
    found = train(stream, runs, load("method", method), options, made(memory))
    for result in found:
        assert result.status == "ok"
        assert result.ledger["items"] == 60  # five times twelve
        assert result.recall
    assert found[0].accuracy.class_il[-1].mean() > 30  # chance is 17


class Vector(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return new.logits.sum(dim=1)


class Branching(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        total = new.logits.sum()
        if total > 0:  # the line that the message names
            total = total * 2
        return total


class OfTheClassesThere(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        there = new.labels.unique()  # the line that the message names
        return nn.functional.cross_entropy(new.logits[:, there], new.labels)


class Misspelt(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Any:
        return new.logit  # type: ignore[attr-defined]


class Number(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Any:
        return 0.5


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Vector, "`loss` must return one number per run, got shape (10,)"),
        (Number, "`loss` must return one number per run, got 0.5"),
        (Branching, "cannot branch on the values of tensors"),
        (OfTheClassesThere, "over aten::_unique2. A loss is ordinary torch"),
        (Misspelt, "AttributeError: 'Examples' object has no attribute 'logit'"),
    ],
)
def test_a_broken_loss_is_named_by_file_and_line(method: type[Strategy], words: str) -> None:
    with pytest.raises(MethodError) as error:
        train(toy_stream(), [RunSpec(0)], method, {}, DenseBuffer)
    assert str(error.value).count(f"{method.__name__}:") == 1
    where, said = str(error.value).split(": ", 1)
    file, line = where.rsplit(":", 1)
    assert Path(file).resolve() == Path(__file__)
    lines = {Branching: "if total > 0", OfTheClassesThere: ".unique()", Misspelt: "new.logit"}
    assert lines.get(method, "def loss") in Path(__file__).read_text().splitlines()[int(line) - 1]
    assert method.__name__ in said
    assert words in said
    assert said.endswith("torch.arange instead.") == (method in (Branching, OfTheClassesThere))


class Masked(LossStrategy):
    """Learns the classes of the batch alone; which they are is a comparison."""

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        there = (new.labels[:, None] == torch.arange(6)).any(dim=0)
        return nn.functional.cross_entropy(new.logits.masked_fill(~there, -1e9), new.labels)


class MaskedByIsin(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        there = torch.isin(torch.arange(6), new.labels)
        return nn.functional.cross_entropy(new.logits.masked_fill(~there, -1e9), new.labels)


def test_an_operation_that_vmap_only_loops_over_is_no_warning_and_gives_the_same() -> None:
    ours, slow = (
        train(toy_stream(), [RunSpec(0), RunSpec(1)], method, {}, DenseBuffer)
        for method in (Masked, MaskedByIsin)
    )
    for one, same in zip(ours, slow, strict=True):
        np.testing.assert_array_equal(one.accuracy.class_il, same.accuracy.class_il)


class Plainly(LossStrategy):
    """Right but for one hook, which a subclass gets wrong."""

    replays = "sampled"

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return nn.functional.cross_entropy(new.logits, new.labels)


class PenaltyOfEachWeight(Plainly):
    def penalty(self, model: Model) -> Tensor:
        return model.weights["weight"].square().sum(dim=1)


class ProjectsTooFew(Plainly):
    def project(self, gradient: Tensor, past: Tensor) -> Tensor:
        return gradient[:3]


class ProjectsNothing(Plainly):
    def project(self, gradient: Tensor, past: Tensor) -> Any:
        gradient.zero_()


@pytest.mark.parametrize(
    ("method", "hook", "words"),
    [
        (PenaltyOfEachWeight, "penalty", "must return one number per run, got shape (6,)"),
        (ProjectsTooFew, "project", "must return a gradient of 78 numbers, got shape (3,)"),
        (ProjectsNothing, "project", "must return a gradient of 78 numbers, got None"),
    ],
)
def test_a_broken_hook_is_named_by_file_and_line(
    method: type[Strategy], hook: str, words: str
) -> None:
    with pytest.raises(MethodError) as error:
        train(toy_stream(), [RunSpec(0, 12)], method, {}, DenseBuffer)
    line = inspect.getsourcelines(vars(method)[hook])[1]
    assert f"test_by_loss.py:{line}: {method.__name__}: `{hook}` {words}." in str(error.value)


class Decaying(LossStrategy):
    """Keeps no copy of the old model; its penalty asks for none."""

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return nn.functional.cross_entropy(new.logits, new.labels)

    def penalty(self, model: Model) -> Tensor:
        return torch.stack([w.square().sum() for w in model.weights.values()]).sum()


def test_a_penalty_counts_from_the_second_task_on_though_no_old_model_is_kept() -> None:
    stream = toy_stream(tasks=2, examples=40)
    trainer = trained(stream, [RunSpec(0)], Decaying, EXACT | {"batch": 10})
    f = Classifier(12, 4, 0, torch.float64)
    for task, examples in enumerate(stream.train_tasks):
        sgd = torch.optim.SGD(f.parameters(), lr=0.1, weight_decay=2.0 * task)
        for index in task_order(0, task, examples).split(10):
            sgd.zero_grad()
            loss = nn.functional.cross_entropy(f(stream.x[index].double()), stream.y[index])
            loss.backward()  # type: ignore[no-untyped-call]
            sgd.step()
    torch.testing.assert_close(trainer.head.weight[0], f.weight.detach(), atol=1e-12, rtol=0)


class Exploding(LossStrategy):
    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return new.logits.exp().exp().sum()


def test_a_loss_that_becomes_nan_is_a_run_that_diverged() -> None:
    [result] = train(toy_stream(), [RunSpec(0)], Exploding, {}, DenseBuffer)
    assert result.status == "diverged"
    assert "exploding diverged in task 1: seed 0" in str(result.message)
    line = inspect.getsourcelines(Exploding.loss)[1]
    assert f"test_by_loss.py:{line} stays finite" in str(result.message)


class Closed(SGD):
    loss_form = None


def test_a_closed_form_without_a_loss_refuses_a_head_that_is_not_linear() -> None:
    with pytest.raises(UserError, match=r"test_by_loss.py:\d+: Closed .*set it to linear"):
        train(toy_stream(), [RunSpec(0)], Closed, {"classifier": "mlp"}, DenseBuffer)
    with pytest.raises(UserError, match="linear, mlp"):
        train(toy_stream(), [RunSpec(0)], SGD, {"classifier": "mpl"}, DenseBuffer)


class Scheduled(LossStrategy):
    """Its weight changes from step to step: what was recorded of it must not go on."""

    weight = 1.0

    def loss(self, new: Examples, *replayed: Examples) -> Tensor:
        return self.weight * nn.functional.cross_entropy(new.logits, new.labels)

    def after_step(self) -> None:
        self.weight = self.weight / 2


def test_an_attribute_that_changes_between_steps_is_seen_by_the_loss() -> None:
    stream = toy_stream(tasks=1, examples=40)
    trainer = trained(stream, [RunSpec(0)], Scheduled, EXACT | {"batch": 10})
    f = Classifier(12, 2, 0, torch.float64)
    sgd = torch.optim.SGD(f.parameters(), lr=0.1)
    for step, index in enumerate(task_order(0, 0, torch.arange(40)).split(10)):
        sgd.zero_grad()
        loss = nn.functional.cross_entropy(f(stream.x[index].double()), stream.y[index])
        (0.5**step * loss).backward()  # type: ignore[no-untyped-call]
        sgd.step()
    torch.testing.assert_close(trainer.head.weight[0], f.weight.detach(), atol=1e-12, rtol=0)


def test_every_method_trains_on_both_heads() -> None:
    for name in METHODS:
        for head in ("linear", "mlp"):
            strategy = load("method", name)
            [result] = train(
                toy_stream(), [RunSpec(0, 12)], strategy, {"classifier": head}, DenseBuffer
            )
            assert result.status == "ok", (name, head)
