"""The contract every associative memory keeps, and what sets each apart."""

from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from sharc.errors import UserError
from sharc.memories.base import Memory, Trace
from sharc.registry import MEMORIES

POSITIONS, CHANNELS = 4, 64
SIZE = POSITIONS * CHANNELS
SMALL: dict[str, dict[str, Any]] = {
    "bayes_pcn": {"hidden": 64},
    "pcn": {"hidden": 64, "weight_steps": 20},
}
RECALLING = sorted(set(MEMORIES) - {"none", "mean", "pooled"})  # those are yardsticks themselves


def loaded(name: str) -> type[Memory]:
    module, _, attribute = MEMORIES[name].partition(":")
    found: type[Memory] = getattr(import_module(module), attribute)
    return found


def make(name: str, seeds: tuple[int, ...] = (3,)) -> Memory:
    options = SMALL.get(name, {})
    return loaded(name)(len(seeds), SIZE, options, seeds, channels=CHANNELS)


def patterns(n: int, seed: int = 0, runs: int = 1) -> Tensor:
    """Rectified maps [S, n, d], a few factors and noise, about 40 % of the entries not zero."""
    g = torch.Generator().manual_seed(seed)
    factors = torch.randn(runs, n, 12, generator=g) @ torch.randn(runs, 12, SIZE, generator=g)
    return (factors / 3 + 0.5 * torch.randn(runs, n, SIZE, generator=g) - 0.3).relu()


def half(n: int, seed: int = 9, runs: int = 1) -> Tensor:
    """Masks [S, n, K] that keep half of the channels."""
    g = torch.Generator().manual_seed(seed)
    return (torch.rand(runs, n, CHANNELS, generator=g).argsort(-1) < CHANNELS // 2).bool()


def written(name: str, x: Tensor) -> Memory:
    memory = make(name, tuple(range(len(x))))
    memory.write(x)
    return memory


def held(trace: Trace) -> int:
    """Every number in the trace's attributes; a cache of products is no part of its state."""
    count = 0
    for name, value in vars(trace).items():
        parts = value if isinstance(value, list) else [value]
        tensors = [
            p.untyped_storage().nbytes() // p.element_size() for p in parts if torch.is_tensor(p)
        ]
        numbers = [1 for p in parts if name in {"_v", "_v0"} and type(trace).__name__ != "PCNTrace"]
        count += sum(tensors) + sum(numbers)
    return count


@pytest.mark.parametrize("name", MEMORIES)
def test_what_is_kept_whole_comes_back_unchanged(name: str) -> None:
    x = patterns(5)
    memory = written(name, patterns(8, seed=1))
    assert torch.equal(memory.read(x, torch.ones(1, 5, CHANNELS, dtype=torch.bool)), x)


@pytest.mark.parametrize("name", MEMORIES)
def test_kept_entries_are_held_fixed(name: str) -> None:
    x, kept = patterns(6), half(6)
    fixed = kept.repeat(1, 1, POSITIONS)
    assert torch.equal(written(name, x).read(x, kept)[fixed], x[fixed])


@pytest.mark.parametrize("name", RECALLING)
def test_a_stored_map_is_recalled_from_a_half_better_than_by_the_mean(name: str) -> None:
    x, kept = patterns(6), half(6)
    free = ~kept.repeat(1, 1, POSITIONS)
    recalled = written(name, x).read(x, kept)
    mean = x.view(1, 6, POSITIONS, CHANNELS).mean(dim=(1, 2)).repeat(1, 6, POSITIONS).view(1, 6, -1)
    error, by_mean = ((y - x)[free].square().mean() for y in (recalled, mean))
    assert error < by_mean


@pytest.mark.parametrize("name", MEMORIES)
def test_forgetting_nothing_changes_nothing(name: str) -> None:
    x, kept = patterns(6), half(6)
    memory = written(name, x)
    before = memory.read(x, kept)
    memory.forget(0.0)
    assert torch.equal(memory.read(x, kept), before)


@pytest.mark.parametrize("name", MEMORIES)
def test_forgetting_everything_is_the_state_before_the_first_write(name: str) -> None:
    x, kept = patterns(6), half(6)
    memory = written(name, x)
    memory.forget(1.0)
    torch.testing.assert_close(memory.read(x, kept), make(name, (0,)).read(x, kept))


@pytest.mark.parametrize("name", MEMORIES)
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    x, kept = patterns(6), half(6)
    memory = written(name, x)
    first = memory.read(x, kept)
    assert torch.equal(memory.read(x, kept), first)
    assert torch.equal(written(name, x).read(x, kept), first)


@pytest.mark.parametrize("name", MEMORIES)
def test_a_run_recalls_the_same_bits_alone_or_stacked(name: str) -> None:
    x, kept = patterns(7, runs=3), half(7, runs=3)
    stacked, alone = make(name, (4, 5, 6)), make(name, (5,))
    for memory, part in ((stacked, slice(None)), (alone, slice(1, 2))):
        memory.write(x[part])
        memory.forget(0.1)
        memory.write(x[part].flip(1))
    assert torch.equal(stacked.read(x, kept)[1:2], alone.read(x[1:2], kept[1:2]))


@pytest.mark.parametrize("name", MEMORIES)
@pytest.mark.parametrize("case", ["zeros", "huge", "repeated", "one"])
def test_nothing_ever_turns_into_nan(name: str, case: str) -> None:
    n = 1 if case == "one" else 5
    x = patterns(n) * {"zeros": 0.0, "huge": 1e4}.get(case, 1.0)
    if case == "repeated":
        x = x[:, :1].expand(-1, n, -1)
    kept = half(n)
    kept[0, 0] = False
    kept[0, 0, 7] = True  # a mask of a single channel
    memory = written(name, x)
    for _ in range(2):
        assert bool(memory.read(x, kept).isfinite().all())
        memory.forget(0.5)
        memory.write(x)


@pytest.mark.parametrize("name", MEMORIES)
def test_n_floats_is_what_is_held(name: str) -> None:
    memory = make(name)
    for seed in (0, 1):
        memory.write(patterns(6, seed), torch.tensor([[0, 1, 2, 0, 1, 2]]))
        assert sum(memory.n_floats().values()) == held(memory.traces[0])


@pytest.mark.parametrize("name", MEMORIES)
def test_reading_before_the_first_write_is_no_error(name: str) -> None:
    x, kept = patterns(3), half(3)
    assert make(name).read(x, kept).shape == x.shape


def test_a_wrong_option_names_its_neighbour() -> None:
    with pytest.raises(UserError, match="Did you mean 'hidden'"):
        loaded("bayes_pcn")(1, SIZE, {"hiden": 3}, [0])
    with pytest.raises(UserError, match="Did you mean 'euclid'"):
        loaded("modern_hopfield")(1, SIZE, {"metric": "euclidean"}, [0])


def test_a_share_to_forget_lies_between_zero_and_one() -> None:
    with pytest.raises(UserError, match="beta 2 is not a share"):
        make("mean").forget(2)


@pytest.mark.parametrize("metric", ["dot", "euclid", "cosine"])
def test_modern_hopfield_recalls_distinct_maps_exactly_as_beta_grows(metric: str) -> None:
    x, kept = patterns(50), half(50)
    options = {"metric": metric, "beta": 1e4}
    memory = loaded("modern_hopfield")(1, SIZE, options, [0], channels=CHANNELS)
    memory.write(x)
    exact = (memory.read(x, kept) - x).abs().amax(dim=-1) < 1e-4
    assert exact.float().mean() == 1 if metric == "euclid" else exact.float().mean() > 0.7


def test_modern_hopfield_with_low_beta_returns_the_mean_of_all_maps() -> None:
    x, kept = patterns(10), half(10)
    memory = loaded("modern_hopfield")(1, SIZE, {"beta": 1e-6}, [0], channels=CHANNELS)
    memory.write(x)
    free = ~kept.repeat(1, 1, POSITIONS)
    mean = x.mean(dim=1, keepdim=True).expand_as(x)
    torch.testing.assert_close(memory.read(x, kept)[free], mean[free], atol=1e-4, rtol=1e-4)


def test_modern_hopfield_forgets_the_oldest_first() -> None:
    x, kept = patterns(10), half(10)
    memory = written("modern_hopfield", x)
    memory.forget(0.3)
    lost = (memory.read(x, kept) - x).abs().amax(dim=-1)[0] > 1e-3
    assert lost.tolist() == [True] * 3 + [False] * 7


def test_classical_hopfield_equals_its_full_weight_matrix() -> None:
    x, kept = patterns(5), half(5)
    memory = written("hopfield", x)
    median = x.view(-1, CHANNELS).median(dim=0).values.repeat(POSITIONS)
    states = torch.where(x[0] > median, 1.0, -1.0)
    weights = states.T @ states
    weights.fill_diagonal_(0)
    fixed = kept[0].repeat(1, POSITIONS)
    xi = torch.where(fixed, states, 0)
    for _ in range(5):
        xi = torch.where(fixed, states, torch.where(xi @ weights > 0, 1.0, -1.0))
    on = memory.read(x, kept)[0] > median
    assert torch.equal(on[~fixed], (xi > 0)[~fixed])


def test_class_mean_fills_with_the_mean_of_its_class() -> None:
    x = torch.tensor([[[1.0, 10.0], [3.0, 30.0], [100.0, 7.0]]])
    memory = loaded("mean")(1, 2, {}, [0])
    memory.write(x, torch.tensor([[0, 0, 1]]))
    kept = torch.tensor([[[True, False], [False, True]]])
    recalled = memory.read(x[:, [0, 2]], kept, torch.tensor([[0, 1]]))
    assert recalled[0].tolist() == [[1.0, 20.0], [100.0, 7.0]]
