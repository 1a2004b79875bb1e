"""The contract every associative memory keeps, and what sets each apart."""

from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from sharc.errors import UserError
from sharc.memories.base import AssociativeMemory, Shape
from sharc.options.base import parsed
from sharc.registry import MEMORIES as REGISTERED

POSITIONS, CHANNELS = 4, 64
SIZE = POSITIONS * CHANNELS
SMALL: dict[str, dict[str, Any]] = {
    "bayes_pcn": {"hidden": 64},
    "pcn": {"hidden": 64, "weight_steps": 20},
}
MEMORIES = sorted(set(REGISTERED) - {"pooled"})  # a way to store
FORGETTING = sorted(set(MEMORIES) - {"none", "oracle"})
RECALLING = sorted(set(MEMORIES) - {"none", "mean"})  # those are what others are compared with


def loaded(name: str) -> type[AssociativeMemory]:
    module, _, attribute = REGISTERED[name].partition(":")
    found: type[AssociativeMemory] = getattr(import_module(module), attribute)
    return found


def make(name: str, seed: int = 0, **options: Any) -> AssociativeMemory:
    kind = loaded(name)
    return kind(Shape(POSITIONS, CHANNELS), kind.Options(**SMALL.get(name, {}) | options), seed)


def forgetting(name: str, rate: float) -> AssociativeMemory:
    return make(name, **{"beta" if name == "bayes_pcn" else "forget_rate": rate})


def patterns(n: int, seed: int = 0) -> Tensor:
    """Rectified maps [n, d], a few factors and noise, about 40 % of the entries not zero."""
    g = torch.Generator().manual_seed(seed)
    factors = torch.randn(n, 12, generator=g) @ torch.randn(12, SIZE, generator=g)
    return (factors / 3 + 0.5 * torch.randn(n, SIZE, generator=g) - 0.3).relu()


def half(n: int, seed: int = 9) -> Tensor:
    """Masks [n, K] that keep half of the channels."""
    g = torch.Generator().manual_seed(seed)
    return (torch.rand(n, CHANNELS, generator=g).argsort(-1) < CHANNELS // 2).bool()


def zeros(x: Tensor) -> Tensor:
    return torch.zeros(len(x), dtype=torch.long)


def written(memory: AssociativeMemory, x: Tensor) -> AssociativeMemory:
    memory.write(x, zeros(x))
    return memory


def recalled(memory: AssociativeMemory, x: Tensor, kept: Tensor) -> Tensor:
    return memory.recall(x, kept, zeros(x))


def held(memory: AssociativeMemory) -> int:
    """Every number in the memory's attributes; a cache of products is not part of its state."""
    count = 0
    for name, value in vars(memory).items():
        parts = value if isinstance(value, list) else [value]
        tensors = [
            p.untyped_storage().nbytes() // p.element_size() for p in parts if torch.is_tensor(p)
        ]
        count += sum(tensors) + (name in {"_v", "_v0"})
    return count


@pytest.mark.parametrize("name", MEMORIES)
def test_what_is_kept_whole_comes_back_unchanged(name: str) -> None:
    x = patterns(5)
    memory = written(make(name), patterns(8, seed=1))
    assert torch.equal(recalled(memory, x, torch.ones(5, CHANNELS, dtype=torch.bool)), x)


@pytest.mark.parametrize("name", MEMORIES)
def test_kept_entries_are_held_fixed(name: str) -> None:
    x, kept = patterns(6), half(6)
    fixed = kept.repeat(1, POSITIONS)
    assert torch.equal(recalled(written(make(name), x), x, kept)[fixed], x[fixed])


@pytest.mark.parametrize("name", RECALLING)
def test_a_stored_map_is_recalled_from_a_half_better_than_by_the_mean(name: str) -> None:
    x, kept = patterns(6), half(6)
    free = ~kept.repeat(1, POSITIONS)
    found = recalled(written(make(name), x), x, kept)
    mean = x.view(6 * POSITIONS, CHANNELS).mean(dim=0).repeat(6, POSITIONS)
    error, by_mean = ((y - x)[free].square().mean() for y in (found, mean))
    assert error < by_mean


@pytest.mark.parametrize("name", FORGETTING)
def test_forgetting_nothing_changes_nothing(name: str) -> None:
    x, kept = patterns(6), half(6)
    memory = written(forgetting(name, 0.0), x)
    before = recalled(memory, x, kept)
    memory.forget()
    assert torch.equal(recalled(memory, x, kept), before)


@pytest.mark.parametrize("name", FORGETTING)
def test_forgetting_everything_is_the_state_before_the_first_write(name: str) -> None:
    x, kept = patterns(6), half(6)
    memory = written(forgetting(name, 1.0), x)
    memory.forget()
    torch.testing.assert_close(recalled(memory, x, kept), recalled(make(name), x, kept))


@pytest.mark.parametrize("name", FORGETTING)
def test_forgetting_half_changes_what_is_recalled_once_more_is_written(name: str) -> None:
    x, kept, more = patterns(6), half(6), patterns(6, seed=2)
    found = []
    for rate in (0.0, 0.5):
        memory = written(forgetting(name, rate), x)
        memory.forget()
        found.append(recalled(written(memory, more), x, kept))
    assert not torch.equal(*found)


@pytest.mark.parametrize("name", MEMORIES)
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    x, kept = patterns(6), half(6)
    memory = written(make(name), x)
    first = recalled(memory, x, kept)
    assert torch.equal(recalled(memory, x, kept), first)
    assert torch.equal(recalled(written(make(name), x), x, kept), first)


@pytest.mark.parametrize("name", MEMORIES)
@pytest.mark.parametrize("case", ["zeros", "huge", "repeated", "one"])
def test_nothing_ever_turns_into_nan(name: str, case: str) -> None:
    n = 1 if case == "one" else 5
    x = patterns(n) * {"zeros": 0.0, "huge": 1e4}.get(case, 1.0)
    if case == "repeated":
        x = x[:1].expand(n, -1)
    kept = half(n)
    kept[0] = False
    kept[0, 7] = True  # a mask of a single channel
    memory = written(forgetting(name, 0.5) if name in FORGETTING else make(name), x)
    for _ in range(2):
        assert bool(recalled(memory, x, kept).isfinite().all())
        memory.forget()
        written(memory, x)


@pytest.mark.parametrize("name", MEMORIES)
def test_n_floats_is_what_is_held(name: str) -> None:
    memory = make(name)
    for seed in (0, 1):
        memory.write(patterns(6, seed), torch.tensor([0, 1, 2, 0, 1, 2]))
        assert sum(memory.n_floats().values()) == held(memory)


@pytest.mark.parametrize("name", MEMORIES)
def test_reading_before_the_first_write_is_no_error(name: str) -> None:
    x, kept = patterns(3), half(3)
    assert recalled(make(name), x, kept).shape == x.shape


def test_a_wrong_option_names_its_neighbour_and_the_legal_values() -> None:
    for name, wrong, said in (
        ("bayes_pcn", {"hiden": 3}, "Did you mean 'hidden'"),
        ("modern_hopfield", {"metric": "euclidean"}, "Did you mean 'euclid'"),
        ("mean", {"forget_rate": 2.0}, "less than or equal to 1"),
    ):
        with pytest.raises(UserError, match=said):
            parsed(loaded(name).Options, wrong, f"memory {name}")


@pytest.mark.parametrize("metric", ["dot", "euclid", "cosine"])
def test_modern_hopfield_recalls_distinct_maps_exactly_as_beta_grows(metric: str) -> None:
    x, kept = patterns(50), half(50)
    memory = written(make("modern_hopfield", metric=metric, beta=1e4), x)
    exact = (recalled(memory, x, kept) - x).abs().amax(dim=-1) < 1e-4
    assert exact.float().mean() == 1 if metric == "euclid" else exact.float().mean() > 0.7


def test_modern_hopfield_with_low_beta_returns_the_mean_of_all_maps() -> None:
    x, kept = patterns(10), half(10)
    memory = written(make("modern_hopfield", beta=1e-6), x)
    free = ~kept.repeat(1, POSITIONS)
    mean = x.mean(dim=0, keepdim=True).expand_as(x)
    found = recalled(memory, x, kept)
    torch.testing.assert_close(found[free], mean[free], atol=1e-4, rtol=1e-4)


def test_modern_hopfield_forgets_the_oldest_first() -> None:
    x, kept = patterns(10), half(10)
    memory = written(make("modern_hopfield", forget_rate=0.3), x)
    memory.forget()
    lost = (recalled(memory, x, kept) - x).abs().amax(dim=-1) > 1e-3
    assert lost.tolist() == [True] * 3 + [False] * 7


def test_classical_hopfield_equals_its_full_weight_matrix() -> None:
    x, kept = patterns(5), half(5)
    memory = written(make("hopfield"), x)
    median = x.view(-1, CHANNELS).median(dim=0).values.repeat(POSITIONS)
    states = torch.where(x > median, 1.0, -1.0)
    weights = states.T @ states
    weights.fill_diagonal_(0)
    fixed = kept.repeat(1, POSITIONS)
    xi = torch.where(fixed, states, 0)
    for _ in range(5):
        xi = torch.where(fixed, states, torch.where(xi @ weights > 0, 1.0, -1.0))
    on = recalled(memory, x, kept) > median
    assert torch.equal(on[~fixed], (xi > 0)[~fixed])


def test_class_mean_fills_with_the_mean_of_its_class() -> None:
    x = torch.tensor([[1.0, 10.0], [3.0, 30.0], [100.0, 7.0]])
    memory = loaded("mean")(Shape(1, 2))
    memory.write(x, torch.tensor([0, 0, 1]))
    kept = torch.tensor([[True, False], [False, True]])
    found = memory.recall(x[[0, 2]], kept, torch.tensor([0, 1]))
    assert found.tolist() == [[1.0, 20.0], [100.0, 7.0]]
