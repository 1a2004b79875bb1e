"""GEM's and A-GEM's projections against whole gradient vectors."""

from functools import partial

import pytest
import torch
from scipy.optimize import nnls

from sharc.engine.head import inner_products
from sharc.strategies.projection import gem_duals
from sharc.textbook.methods import project


def gradients(kind: str, t: int, seed: int) -> torch.Tensor:
    past = torch.randn(t, 40, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    if kind == "duplicate":
        past[t // 2 :] = past[: t - t // 2].clone()
    elif kind == "zero":
        past[0] = 0
    elif kind == "opposed":
        past[-1] = -past[0]
    elif kind == "huge":
        past = past * 1e4
    return past


def duals(past: torch.Tensor, g: torch.Tensor, margin: float, ridge: float) -> torch.Tensor:
    gram = (past @ past.T)[None]
    v = gem_duals(lambda: gram, lambda: gram.sum(dim=2), (past @ g)[None], margin, ridge)
    return torch.zeros(len(past)) if v is None else v[0]


@pytest.mark.parametrize("kind", ["random", "duplicate", "zero", "opposed", "huge"])
@pytest.mark.parametrize("t", [2, 5, 19])
@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_gem_equals_quadprog_on_whole_gradients(kind: str, t: int, margin: float) -> None:
    for seed in range(5):
        past = gradients(kind, t, seed)
        g = -past.sum(dim=0) + 0.1 * past[-1]
        expected = project(g, past, margin, 1e-3)
        v = duals(past, g, margin, 1e-3)
        torch.testing.assert_close(g + past.T @ v, expected, atol=1e-6, rtol=1e-9)


def test_gem_equals_non_negative_least_squares_which_shares_no_code_with_quadprog() -> None:
    for seed in range(10):
        past, ridge, margin = gradients("random", 6, seed), 1e-3, 0.5
        g = -past.sum(dim=0)
        v = duals(past, g, margin, ridge)
        # with u = v - margin >= 0 the programme is min |L^T u + L^-1 (P margin + G g)|^2, P = L L^T
        hessian = past @ past.T + ridge * torch.eye(6, dtype=torch.float64)
        lower = torch.linalg.cholesky(hessian)
        linear = hessian.sum(dim=1) * margin + past @ g
        target = -torch.linalg.solve_triangular(lower, linear[:, None], upper=False)[:, 0]
        u, _ = nnls(lower.T.numpy(), target.numpy())
        torch.testing.assert_close(v - margin, torch.from_numpy(u), atol=1e-8, rtol=1e-8)


def test_gem_survives_gradients_whose_scale_swallows_the_ridge() -> None:
    past = gradients("duplicate", 6, 0) * 1e12
    v = duals(past, -past.sum(dim=0), 0.5, 1e-3)
    assert bool(v.isfinite().all())
    assert bool((v >= 0.5 - 1e-9).all())


def test_gem_gives_up_quietly_on_values_that_are_not_finite() -> None:
    broken, finite = torch.full((1, 3, 3), torch.inf), -torch.ones(1, 3)
    for sums in (finite, broken[0, :1]):
        v = gem_duals(lambda: broken, partial(torch.clone, sums), finite, 0.5, 1e-3)
        assert v is not None
        assert v.tolist() == [[0, 0, 0]]


def not_needed() -> torch.Tensor:
    raise AssertionError("not needed")


def test_at_the_corner_gems_gradients_are_never_multiplied_with_each_other() -> None:
    """g = -g_1 and g_2 orthogonal to it: with margin 1 both weights stay at 1."""
    products = torch.tensor([[-1.0, 0.0]])  # G is the identity
    v = gem_duals(not_needed, lambda: torch.ones(1, 2), products, 1.0, 0.0)
    assert v is not None
    assert v.tolist() == [[1.0, 1.0]]


def test_gradients_that_agree_with_every_past_task_are_left_as_they_are() -> None:
    assert gem_duals(not_needed, not_needed, torch.tensor([[0.0, 2.0]]), 0.5, 1e-3) is None


@pytest.mark.parametrize(("n", "m"), [(5, 4), (1, 4), (5, 1), (1, 1)])
def test_gram_form_equals_the_product_of_materialised_gradients(n: int, m: int) -> None:
    x, z = torch.randn(3, n, 8, dtype=torch.float64), torch.randn(3, m, 8, dtype=torch.float64)
    r, s = torch.randn(3, n, 5, dtype=torch.float64), torch.randn(3, m, 5, dtype=torch.float64)
    gram = ((inner_products(x, z) + 1) * inner_products(r, s)).sum(dim=(1, 2))

    def gradient(rows: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        weight = rows.transpose(1, 2) @ residual
        return torch.cat([weight.flatten(1), residual.sum(dim=1)], dim=1)

    torch.testing.assert_close(gram, (gradient(x, r) * gradient(z, s)).sum(dim=1))
