"""Saliency (Eq. 3) and mask (Eq. 4): against autograd, against captum, and by counting."""

import math

import numpy as np
import pytest
import torch
from captum.attr import LayerGradCam, Saliency
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn

from sharc.errors import UserError
from sharc.saliency import channel_saliency, kept_count, masks, quantile


@pytest.fixture
def head() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))


def rows(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_saliency_is_the_weight_row_over_the_positions_as_autograd_says(head: nn.Module) -> None:
    maps = rows(3, 8, 7, 7).requires_grad_()
    labels = torch.tensor([4, 0, 4])
    score = head(maps).gather(1, labels[:, None]).sum()
    (gradient,) = torch.autograd.grad(score, maps)
    closed = channel_saliency(head[2].weight, 49)[labels]
    torch.testing.assert_close(closed, gradient.mean(dim=(2, 3)))


def test_saliency_is_what_captum_computes(head: nn.Module) -> None:
    maps, labels = rows(3, 8, 7, 7), torch.tensor([4, 0, 4])
    signed = Saliency(head).attribute(maps.requires_grad_(), target=labels, abs=False)
    closed = channel_saliency(head[2].weight, 49)[labels].detach()
    torch.testing.assert_close(closed, signed.mean(dim=(2, 3)))


def test_grad_cam_of_captum_weighs_channels_by_the_same_numbers() -> None:
    torch.manual_seed(0)
    first = nn.Conv2d(3, 8, 1)
    net = nn.Sequential(first, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    image, label = rows(1, 3, 7, 7), torch.tensor([2])
    cam = LayerGradCam(net, first).attribute(image, target=label)
    weights = channel_saliency(net[3].weight, 49)[2]
    mine = (weights[:, None, None] * first(image)[0]).sum(0)
    torch.testing.assert_close(mine.detach(), cam[0, 0].detach())


@pytest.mark.parametrize(("theta", "kept"), [(0.5, 256), (0.8, 103), (0.9, 52), (1.0, 1), (0, 512)])
def test_both_rules_keep_the_published_counts_of_512_channels(theta: float, kept: int) -> None:
    assert kept_count(512, theta) == kept
    row = rows(1, 1, 512)
    assert int(masks(row, theta).sum()) == kept
    assert int(masks(row.abs() + 0.1, theta, "relu_ge").sum()) == kept


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 1.0), st.integers(2, 300), st.integers(0, 10_000))
@example(1 - 1e-12, 2, 0)  # as good as 1: the largest is kept
def test_kept_count_holds_for_any_share_and_width(theta: float, channels: int, seed: int) -> None:
    row = torch.rand(1, 1, channels, generator=torch.Generator().manual_seed(seed)) + 0.5
    if len(row.unique()) == channels:
        assert int(masks(row, theta).sum()) == kept_count(channels, theta)


@pytest.mark.parametrize("theta", [0.1, 0.3, 0.45, 0.5, 0.6, 0.9])
def test_the_reference_rule_has_a_dead_zone_while_few_weights_are_positive(theta: float) -> None:
    row = rows(1, 1, 512)
    not_positive = int((row <= 0).sum())
    rank = math.ceil(511 * theta)
    expected = 512 if rank <= not_positive - 1 else 512 - rank
    assert int(masks(row, theta, "relu_ge").sum()) == expected


def test_the_paper_rule_keeps_the_largest_whatever_their_sign() -> None:
    row = torch.tensor([[[-9.0, 1.0, 8.0, -2.0, 0.5]]])
    assert masks(row, 0.6)[0, 0].tolist() == [True, False, True, False, False]
    assert masks(row, 0.6, "relu_ge")[0, 0].tolist() == [False, True, True, False, False]


def test_nothing_is_dropped_at_zero_and_one_channel_stays_at_one() -> None:
    row = torch.tensor([[[3.0, -5.0, 1.0]]])
    assert bool(masks(row, 0.0).all())
    assert masks(row, 1.0)[0, 0].tolist() == [False, True, False]


def test_ties_at_the_threshold_are_dropped_by_the_paper_and_kept_by_the_reference() -> None:
    row = torch.tensor([[[1.0, 2.0, 2.0, 2.0, 3.0]]])
    assert masks(row, 0.5)[0, 0].tolist() == [False, False, False, False, True]
    assert masks(row, 0.5, "relu_ge")[0, 0].tolist() == [False, True, True, True, True]


@settings(max_examples=40, deadline=None)
@given(st.floats(0.0, 1.0), st.integers(0, 1000))
def test_the_quantile_is_numpys(theta: float, seed: int) -> None:
    row = rows(7, 33, seed=seed)
    expected = np.quantile(row.numpy(), theta, axis=-1)
    np.testing.assert_allclose(quantile(row, theta)[:, 0], expected, rtol=1e-4, atol=1e-5)


def test_runs_do_not_share_a_threshold() -> None:
    small, large = rows(1, 3, 50), 100 * rows(1, 3, 50, seed=1)
    stacked = masks(torch.cat([small, large]), 0.8)
    assert torch.equal(stacked[:1], masks(small, 0.8))
    assert torch.equal(stacked[1:], masks(large, 0.8))


def test_a_share_above_one_and_an_unknown_rule_are_named() -> None:
    with pytest.raises(UserError, match=r"theta 1\.5 is not a share"):
        masks(rows(1, 1, 4), 1.5)
    with pytest.raises(UserError, match=r"Did you mean 'abs_gt'"):
        masks(rows(1, 1, 4), 0.5, "abs_ge")
