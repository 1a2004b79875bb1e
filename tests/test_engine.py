"""The engine: evaluation, stacking, devices, and what it says to bad input."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from oracles.toy import toy_stream
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import CPU, one_thread, resolve_device
from sharc.engine.head import Head
from sharc.engine.runs import RunSpec
from sharc.engine.sampling import task_order
from sharc.errors import UserError
from sharc.mkl import fix_order_of_sums
from sharc.randomness import generator
from sharc.strategies.agem import AGEM
from sharc.strategies.clser import CLSER
from sharc.strategies.derpp import DERpp
from sharc.strategies.er import ER
from sharc.strategies.gem import GEM
from sharc.strategies.joint import Joint
from sharc.strategies.mer import MER
from sharc.strategies.sgd import SGD
from sharc.trainer.evaluate import correct, evaluate
from sharc.trainer.train import stacks, train

ALL = [SGD, Joint, ER, MER, GEM, AGEM, DERpp, CLSER]


def test_task_il_takes_the_best_of_the_tasks_own_classes() -> None:
    logits = torch.tensor([[5.0, 0.0, 1.0, 2.0], [0.0, 0.0, 3.0, 2.0], [0.0, 0.0, 1.0, 9.0]])
    labels = torch.tensor([3, 3, 3])
    class_il, task_il = correct(logits, labels, torch.tensor([2, 3]))
    assert int(class_il) == 1  # only the last row's largest logit is class 3
    assert int(task_il) == 2  # the first row's is too, once class 0 is out


def test_evaluation_gives_percent_per_run_and_task() -> None:
    stream = toy_stream(tasks=2, per_task=1, features=2)
    stream = replace(
        stream,
        test_x=torch.eye(2).repeat_interleave(20, 0),
        test_y=torch.tensor([0, 1]).repeat_interleave(20),
    )
    weight = torch.stack([torch.eye(2), torch.tensor([[0.0, 0.0], [1.0, 1.0]])])
    accuracy = evaluate(stream, Head(weight, torch.zeros(2, 2)), 2, [RunSpec(0), RunSpec(1)], 2)
    assert accuracy[0].tolist() == [[100.0, 100.0], [0.0, 100.0]]
    assert accuracy[1].tolist() == [[100.0, 100.0], [100.0, 100.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("many_rows", [False, True])
@pytest.mark.parametrize(("n_classes", "n_features"), [(4, 37), (10, 512), (10, 1280), (33, 1280)])
def test_a_test_row_gets_the_same_logits_however_many_runs_see_it(
    n_classes: int, n_features: int, many_rows: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    weight = torch.randn(20, n_classes, n_features, dtype=dtype)
    bias = torch.randn(20, n_classes, dtype=dtype)
    with one_thread():
        for n in (1, 3, 1000, CPU.test_rows):
            x = torch.rand(n, n_features, dtype=dtype)
            stacked = Head(weight, bias, many_rows=many_rows).logits_of_same(x)
            one_by_one = Head(weight, bias).logits(x.expand(20, -1, -1))
            torch.testing.assert_close(stacked, one_by_one, atol=1e-3, rtol=0)
            for run in (0, 7, 19):
                part = slice(run, run + 1)
                alone = Head(weight[part], bias[part], many_rows=many_rows)
                assert torch.equal(alone.logits_of_same(x), stacked[part])


@pytest.mark.parametrize("shape", [(9, 7, 10), (9, 37, 5), (33, 7, 20), (10, 37, 10)])
def test_a_product_is_the_same_bits_wherever_its_rows_lie(shape: tuple[int, int, int]) -> None:
    n_classes, n_features, n_rows = shape
    torch.manual_seed(0)
    weight, x = torch.randn(9, n_classes, n_features), torch.rand(9, n_rows, n_features)
    with one_thread():
        together = torch.bmm(weight, x.mT)
        for run in range(9):  # a copy begins at a multiple of 64 bytes, a run in a stack does not
            part = slice(run, run + 1)
            alone = torch.bmm(weight[part].clone(), x[part].clone().mT)
            assert torch.equal(alone, together[part])


@pytest.mark.parametrize(
    ("processor", "asked"),
    [
        ("vendor_id : GenuineIntel\nflags : avx2 avx512f", None),
        ("vendor_id : GenuineIntel\nflags : avx2", "AUTO"),
        ("vendor_id : AuthenticAMD\nflags : avx2 avx512f", "AUTO"),
    ],
)
def test_mkl_is_asked_for_steady_sums_where_it_takes_its_code_for_avx2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processor: str, asked: str | None
) -> None:
    monkeypatch.setenv("MKL_CBWR", "")  # so that what is set here is taken back afterwards
    monkeypatch.delenv("MKL_CBWR")
    found = tmp_path / "cpuinfo"
    found.write_text(processor)
    fix_order_of_sums(found)
    assert os.environ.get("MKL_CBWR") == asked


def test_the_initial_head_lies_within_pytorchs_bounds_and_fills_them() -> None:
    head = Head.initial([generator(0, "init")], 400, 50, torch.zeros(()))
    bound = 400**-0.5
    assert 0.99 * bound < head.weight.abs().max() <= bound
    assert abs(float(head.weight.mean())) < 0.001


@pytest.mark.parametrize("n_classes", [4, 40])
def test_both_layouts_step_as_a_linear_layer_does(n_classes: int) -> None:
    weight = torch.randn(2, n_classes, 5, dtype=torch.float64)
    head = Head(weight, torch.randn(2, n_classes, dtype=torch.float64))
    x, y = torch.randn(2, 7, 5, dtype=torch.float64), torch.randint(0, n_classes, (2, 7))
    layer = torch.nn.Linear(5, n_classes, dtype=torch.float64)
    layer.weight.data.copy_(head.weight[1])
    layer.bias.data.copy_(head.b[1])
    torch.testing.assert_close(head.logits(x)[1], layer(x[1]).detach())
    loss = torch.nn.functional.cross_entropy(layer(x[1]), y[1], reduction="sum")
    d_weight, d_bias = torch.autograd.grad(loss, [layer.weight, layer.bias])
    residual = head.ce_residual(head.logits(x), head.label_offsets(y))
    head.descend(x, residual, 0.1)
    torch.testing.assert_close(head.weight[1], (layer.weight - 0.1 * d_weight).detach())
    torch.testing.assert_close(head.b[1], (layer.bias - 0.1 * d_bias).detach())


def test_matrices_are_empty_above_the_diagonal_and_joint_has_its_last_row_alone() -> None:
    [sgd] = train(toy_stream(), [RunSpec(0)], SGD, {}, DenseBuffer)
    [joint] = train(toy_stream(), [RunSpec(0)], Joint, {}, DenseBuffer)
    above = np.triu_indices(3, 1)
    assert np.isnan(sgd.accuracy.class_il[above]).all()
    assert np.isfinite(sgd.accuracy.class_il[np.tril_indices(3)]).all()
    assert np.isnan(joint.accuracy.task_il[:2]).all()
    assert np.isfinite(joint.accuracy.task_il[2]).all()
    assert len(joint.untrained["class_il"]) == 3


def test_results_come_in_the_order_asked_however_they_are_stacked() -> None:
    runs = [RunSpec(seed, buffer) for seed, buffer in ((2, 60), (0, 30), (1, 60), (0, 6))]
    results = train(toy_stream(), runs, ER, {}, DenseBuffer)
    assert [result.spec for result in results] == runs


def test_stacks_share_buffers_only_if_steps_have_one_shape_and_stay_in_cache() -> None:
    stream = toy_stream()
    runs = [RunSpec(seed, buffer) for buffer in (30, 60) for seed in (0, 1)]
    sampled = stacks(stream, runs, ER, ER.complete({"replay": "sampled"}))
    assert sampled == [[0, 1, 2, 3]]
    assert stacks(stream, runs, ER, ER.complete({})) == [[0, 1], [2, 3]]
    wide = replace(stream, x=torch.empty(180, 2**17))
    assert len(stacks(wide, runs, ER, ER.complete({"replay": "sampled"}))) == 4


def test_a_method_and_its_seed_see_the_same_order_whatever_else_is_drawn() -> None:
    examples = torch.arange(100)
    assert torch.equal(task_order(7, 2, examples), task_order(7, 2, examples))
    assert not torch.equal(task_order(7, 2, examples), task_order(8, 2, examples))
    assert not torch.equal(task_order(7, 2, examples), task_order(7, 3, examples))


def test_a_diverging_run_is_stopped_and_named_and_the_others_keep_their_bits() -> None:
    stream = toy_stream()
    poisoned = replace(stream, x=torch.stack([stream.x, stream.x * 1e25]))
    runs = [RunSpec(0, 30), RunSpec(1, 30), RunSpec(2, 30)]  # odd seeds see the poisoned view
    for strategy in (DERpp, GEM, CLSER):
        alone = train(poisoned, runs[:1], strategy, {}, DenseBuffer)[0]
        good, bad, other = train(poisoned, runs, strategy, {}, DenseBuffer)
        assert (good.status, bad.status, other.status) == ("ok", "diverged", "ok")
        for word in (strategy.__name__.lower(), "seed 1", "buffer 30", "learning rate 0.1"):
            assert word in str(bad.message)
        assert np.isnan(bad.accuracy.class_il[-1]).all()
        np.testing.assert_array_equal(good.accuracy.class_il, alone.accuracy.class_il)


def test_nan_features_are_refused_with_data_set_and_row() -> None:
    stream = toy_stream()
    stream.x[17, 3] = torch.nan
    with pytest.raises(UserError, match="'toy': training features, row 17"):
        train(stream, [RunSpec(0)], SGD, {}, DenseBuffer)


def test_a_batch_larger_than_a_task_is_refused() -> None:
    with pytest.raises(UserError, match="batch 61 is larger than task 1 of 'toy', which has 60"):
        train(toy_stream(), [RunSpec(0)], SGD, {"batch": 61}, DenseBuffer)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("auto") == torch.device("cpu")
    with pytest.raises(UserError, match=r"train\.device is cuda, but there is no GPU here"):
        resolve_device("cuda")
