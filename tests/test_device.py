"""On a simulated accelerator everything that a GPU would compute comes out as on the CPU.

`accelerator.py` says what is simulated. Each test does the same thing on both and compares bits.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from accelerator import DEVICE, Counts, accelerated, counted
from mapped_toy import BUFFER, made, mapped_stream, same
from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.engine.head import Head
from sharc.engine.runs import RunResult, RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.features.drift import Drift
from sharc.features.engines import TorchEngine, choose_engine
from sharc.features.pipeline import Extractor
from sharc.memories.base import Shape
from sharc.memories.bayes_pcn import BayesPCN
from sharc.options.memories import BayesPCNOptions
from sharc.registry import MEMORIES, METHODS, load
from sharc.trainer.evaluate import evaluate
from sharc.trainer.selection import candidates, train_selected
from sharc.trainer.train import stacks, train
from small_backbone import small_backbone

ROOT = Path(__file__).parent.parent


def both_ways(work: Callable[[], Any]) -> tuple[Any, Any, Counts]:
    """What work gives on the CPU and on the accelerator, and what happened there."""
    here = work()
    with accelerated() as counts:
        there = work()
    assert counts.kernels, "nothing was computed on the accelerator"
    return here, there, counts


def assert_same(here: list[RunResult], there: list[RunResult]) -> None:
    for one, other in zip(here, there, strict=True):
        assert same(one, other)
        assert (one.ledger, one.recall) == (other.ledger, other.recall)


# The accelerator itself. ----------------------------------------------------------------------


def test_it_refuses_to_mix_with_the_host_where_cuda_does() -> None:
    there, here = torch.arange(6.0).view(2, 3).to(DEVICE), torch.ones(2, 3)
    mixed: list[Callable[[], Any]] = [
        lambda: there + here,
        lambda: here.add_(there),
        lambda: torch.cat([there, here]),
        lambda: here[there.long()],
        lambda: torch.where(there > 1, there, here),
        lambda: torch.stack([there.sum(), torch.tensor(1.0)]),
        lambda: torch.tensor(1.0).add_(there.sum()),
    ]
    for work in mixed:
        with pytest.raises(RuntimeError, match="two devices, sim:0 and cpu"):
            work()
    with pytest.raises(TypeError, match="can't convert sim:0"):
        there.numpy()
    assert (there + torch.tensor(1.0)).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert there[torch.tensor([1])].tolist() == [[3, 4, 5]]
    assert here.copy_(there).tolist() == there.tolist()


def test_it_would_draw_other_numbers_so_drawing_there_is_refused() -> None:
    with pytest.raises(RuntimeError, match="would draw other numbers"):
        torch.rand(3, device=DEVICE)


def test_its_numbers_are_its_own() -> None:
    here = torch.zeros(3)
    there = here.to(DEVICE)
    here.add_(1)
    assert there.tolist() == [0, 0, 0]
    back = there.cpu()
    back.add_(1)
    assert there.tolist() == [0, 0, 0]
    assert (there.device, back.device) == (DEVICE, torch.device("cpu"))


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x[0, 0].item(), lambda x: float(x.sum()), lambda x: bool((x > 1).any()),
        lambda x: x.tolist(), lambda x: x.cpu(), lambda x: x.to("cpu", torch.float64),
        lambda x: torch.empty(2, 3).copy_(x), lambda x: x.numpy(force=True),
        lambda x: x.nonzero(), lambda x: x[x > 1], lambda x: x.unique(),
        lambda x: torch.equal(x, x), lambda x: x.masked_select(x > 1),
        lambda x: x.masked_fill_(x > 1, 0).index_put_((x > 1,), x.sum()),
        lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(2, device=x.device)),
    ],
)  # fmt: skip
def test_every_way_to_wait_for_it_is_counted(read: Callable[[torch.Tensor], Any]) -> None:
    there = torch.arange(6.0).view(2, 3).to(DEVICE)
    with counted() as counts:
        read(there)
    assert counts.reads.total() == 1


def test_kernels_are_counted_and_views_are_none() -> None:
    there = torch.arange(6.0).view(2, 3).to(DEVICE)
    with counted() as counts:
        there.T[1:].unsqueeze(0).expand(4, -1, -1)
        torch.nn.functional.linear(there, there).softmax(1).add_(1)
        there.masked_fill_(there > 1, 0)
    assert counts.kernels == {"mm": 1, "_softmax": 1, "add_": 1, "gt": 1, "masked_fill_": 1}
    assert counts.reads.total() == counts.uploads.total() == 0
    with counted() as counts:
        torch.tensor([1, 2], device=DEVICE)
    assert counts.uploads.total() == 1


# What runs on it. -----------------------------------------------------------------------------


def trained(method: str, make: Any = DenseBuffer, **options: Any) -> Callable[[], list[RunResult]]:
    """Two runs on maps; masked, unless they are stored whole."""
    theta = None if make is DenseBuffer else 0.8
    runs = [RunSpec(seed, BUFFER, theta) for seed in (0, 1)]
    given = {"learning_rate": 0.05, **options}
    return partial(train, mapped_stream(), runs, load("method", method), given, make)


@pytest.mark.parametrize("classifier", ["linear", "mlp"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_on_it(method: str, classifier: str) -> None:
    here, there, _ = both_ways(trained(method, classifier=classifier))
    assert_same(here, there)


@pytest.mark.parametrize("method", [m for m in METHODS if load("method", m).replays != "none"])
def test_every_method_with_a_memory_trains_on_it_with_sharc(method: str) -> None:
    here, there, _ = both_ways(trained(method, made("modern_hopfield")))
    assert_same(here, there)


@pytest.mark.parametrize("memory", [m for m in MEMORIES if m != "pooled"])
def test_every_memory_recalls_on_it(memory: str) -> None:
    here, there, _ = both_ways(trained("er", made(memory)))
    assert_same(here, there)
    assert here[0].recall


def test_pooled_storage_trains_on_it() -> None:
    stored = partial(
        train, mapped_stream(), [RunSpec(0, BUFFER)], load("method", "er"), {}, made("pooled")
    )
    here, there, _ = both_ways(stored)
    assert_same(here, there)


@pytest.mark.parametrize(
    "switches",
    [
        {"space": "pooled", "budget": "total_bytes"},
        {"saliency": "random"},
        {"saliency": "relu_ge", "budget_count": "nonzero", "write_scope": "last_batches",
         "recall_scope": "last_batches", "recall": "at_store", "stored": "recalled",
         "forget": "write"},
    ],
)  # fmt: skip
def test_other_ways_to_store_train_on_it(switches: dict[str, Any]) -> None:
    rule = "batch_prefix" if "forget" in switches else "last"
    here, there, _ = both_ways(trained("er", made("none", **switches), buffer_rule=rule))
    assert_same(here, there)


def test_the_saliency_of_a_head_with_a_hidden_layer_is_found_on_it() -> None:
    here, there, _ = both_ways(trained("er", made("none"), classifier="mlp", replay="sampled"))
    assert_same(here, there)


def test_values_are_chosen_on_it() -> None:
    stream = toy_stream()
    held = [index[::5] for index in stream.train_tasks]
    kept = [index[torch.arange(len(index)) % 5 > 0] for index in stream.train_tasks]
    stream = replace(stream, train_tasks=kept, validation_tasks=held)

    def under(here: TaskStream, runs: Any, values: Any) -> list[RunResult]:
        return train(here, runs, load("method", "er"), dict(values), DenseBuffer)

    among, runs = candidates({"learning_rate": [1e-9, 0.1]}), [RunSpec(0, 12), RunSpec(1, 12)]
    here, there, _ = both_ways(lambda: train_selected(stream, runs, among, under))
    for one, other in zip(here, there, strict=True):
        for scenario, choice in one.items():
            assert choice.recorded() == other[scenario].recorded()
            assert same(choice.result, other[scenario].result)


def test_an_evaluation_waits_for_it_once() -> None:
    stream = toy_stream()
    source = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(3, 6, 12, generator=source), torch.randn(3, 6, generator=source)
    runs = [RunSpec(seed) for seed in range(3)]
    here = evaluate(stream, Head(weight, bias), 3, runs, 3)
    with counted() as counts:
        there = stream.to(DEVICE, torch.float32)
        head = Head(weight.to(DEVICE), bias.to(DEVICE))
        assert torch.equal(here, evaluate(there, head, 3, runs, 3))
    assert counts.reads.total() == 1


@pytest.mark.parametrize("read", ["collapsed", "joint_adam"])
def test_bayes_pcn_writes_and_reads_on_it(read: Any) -> None:
    source = torch.Generator().manual_seed(0)
    maps = torch.randn(12, 4 * 20, generator=source).relu()
    kept = torch.rand(12, 20, generator=source) > 0.5
    labels = torch.arange(12) % 3

    def work(device: torch.device) -> torch.Tensor:
        x, mask, y = maps.to(device), kept.to(device), labels.to(device)
        options = BayesPCNOptions(hidden=16, steps=20, write_batch=5, read=read)
        memory = BayesPCN(Shape(4, 20), options, seed=3, device=device)
        memory.write(x, y)
        memory.forget()
        recalled: torch.Tensor = memory.recall(x, mask, y)
        return recalled.cpu()

    here = work(torch.device("cpu"))
    with counted():
        assert torch.equal(here, work(DEVICE))
    assert not torch.equal(here, maps)


def test_the_torch_engine_extracts_features_on_it(tmp_path: Path) -> None:
    small_backbone(tmp_path / "weights")
    images = np.random.default_rng(0).integers(0, 256, (20, 8, 8, 3), dtype=np.uint8)

    def work() -> tuple[Any, Any]:
        extractor = _extractor(tmp_path)
        engine = choose_engine(extractor, 8, engine="torch", device="auto", batch=4, threads=1)
        assert isinstance(engine, TorchEngine)
        return engine.features(images)

    here, there, counts = both_ways(work)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)
    assert counts.reads.total() == 2 * 5  # vectors and maps of five batches


def test_statistics_that_train_along_drift_on_it(tmp_path: Path) -> None:
    small_backbone(tmp_path / "weights")
    images = torch.randint(256, (20, 8, 8, 3), generator=torch.Generator().manual_seed(0)).byte()

    def work(device: torch.device) -> list[torch.Tensor]:
        drift = Drift(_extractor(tmp_path).to(device), passes=(1, 3))
        found = [*drift.step(images[:10]), *drift.step(images[10:]), drift.test(images, 3)]
        return [part.cpu() for part in found]

    here = work(torch.device("cpu"))
    with counted():
        there = work(DEVICE)
    assert all(torch.equal(one, other) for one, other in zip(here, there, strict=True))


def _extractor(folder: Path) -> Extractor:
    backbone = small_backbone(folder / "weights")
    return Extractor(backbone.load(16), 8, 16).normalised_with((0.5,) * 3, (0.2,) * 3).eval()


# How much at once. ----------------------------------------------------------------------------


def test_all_runs_of_one_shape_advance_together_on_it_and_as_many_as_suit_a_cpu() -> None:
    runs = [RunSpec(seed, buffer) for buffer in (12, 24) for seed in range(40)]
    er, stream = load("method", "er"), toy_stream()
    drawn, whole = (er.complete({"replay": replay}) for replay in ("sampled", "full"))
    assert [len(part) for part in stacks(stream, runs, er, whole)] == [30, 10, 30, 10]
    there = stream.to(DEVICE, torch.float32)
    assert [len(part) for part in stacks(there, runs, er, whole)] == [40, 40]
    assert [len(part) for part in stacks(there, runs, er, drawn)] == [40, 40]
    assert len(stacks(there, [RunSpec(seed, 60) for seed in range(99)], er, drawn)) == 1


def test_what_does_not_fit_into_its_memory_advances_by_halves(caplog: Any) -> None:
    runs = [RunSpec(seed, BUFFER) for seed in range(6)]
    work = partial(train, mapped_stream(), runs, load("method", "derpp"), {}, DenseBuffer)
    here, there, counts = both_ways(work)
    caplog.set_level("INFO")
    with accelerated(room=counts.peak - 1):
        halved = work()
    assert_same(here, there)
    assert_same(here, halved)
    assert [record.message for record in caplog.records] == [
        "6 runs at once do not fit into the memory of sim:0"
    ]
    with accelerated(room=1000), pytest.raises(torch.OutOfMemoryError, match="no room for"):
        work()


def test_it_tests_many_rows_at_once() -> None:
    stream = toy_stream(tasks=1, examples=20)
    rows = torch.arange(40).repeat(100)  # four times what suits a CPU
    stream = replace(stream, test_tasks=[rows]).to(DEVICE, torch.float32)
    head = Head(torch.zeros(1, 2, 12, device=DEVICE), torch.zeros(1, 2, device=DEVICE))
    with counted() as counts:
        evaluate(stream, head, 1, [RunSpec(0)], 1)
    assert counts.kernels["addmm"] == 1


# How often, per step: docs/gpu.md. ------------------------------------------------------------

LONG, SHORT = 24, 8  # steps of the second task


def of_task(method: str, steps: int, *, classifier: str) -> Counts:
    """What the device does for two runs; the last task has so many steps."""
    strategy = load("method", method)

    class Apart(strategy):  # type: ignore[misc, valid-type]
        loss_form = strategy.loss_form

        def end_task(self, *given: Any) -> None:
            with counted():  # what is done once per task is not counted
                super().end_task(*given)

    stream = toy_stream(tasks=2, examples=10 * SHORT)
    tasks = [stream.train_tasks[0], stream.train_tasks[1].repeat(steps // SHORT)]
    runs = [RunSpec(seed, 20) for seed in (0, 1)]
    options = {"classifier": classifier, "learning_rate": 0.01}
    with accelerated() as counts:
        train(replace(stream, train_tasks=tasks), runs, Apart, options, DenseBuffer)
    return counts


def per_step(method: str, classifier: str = "linear") -> tuple[float, float, float]:
    """Kernels, reads and uploads of a step that replays, its rows gathered."""
    long, short = (of_task(method, steps, classifier=classifier) for steps in (LONG, SHORT))
    kernels, reads, uploads = (
        (getattr(long, kind).total() - getattr(short, kind).total()) / (LONG - SHORT)
        for kind in ("kernels", "reads", "uploads")
    )
    return kernels, reads, uploads


@pytest.mark.parametrize("method", METHODS)
def test_the_page_says_what_a_step_costs(method: str) -> None:
    closed, by_loss = per_step(method), per_step(method, "mlp")
    cells = [f"{number:.3g}" for number in (*closed, *by_loss)]
    line = f"| {method} | {' | '.join(cells)} |"
    assert line in (ROOT / "docs/gpu.md").read_text(encoding="utf-8"), line
    if method != "gem":
        assert closed[1:] == by_loss[1:] == (0, 0)
