"""BayesPCN's fast forms against the equations written out over the whole map."""

from typing import Any

import pytest
import torch
from torch import Tensor

from sharc.memories.base import Shape
from sharc.memories.bayes_pcn import BayesPCN
from sharc.memories.cues import gathered, ordered_index, segments
from sharc.memories.pcn import PCN
from sharc.memories.predictive_coding.inference import _energy, _ridge, _slope, infer_read
from sharc.memories.predictive_coding.masked_gram import MAPS, masked_grams, masked_products
from sharc.textbook import bayes_pcn as textbook

POSITIONS, CHANNELS, HIDDEN = 4, 40, 24
SIZE = POSITIONS * CHANNELS


def maps(n: int, seed: int = 0) -> Tensor:
    g = torch.Generator().manual_seed(seed)
    factors = torch.randn(n, 10, generator=g) @ torch.randn(10, SIZE, generator=g)
    return (factors / 3 + 0.4 * torch.randn(n, SIZE, generator=g) - 0.3).relu().double()


def bayes_pcn(seed: int = 0, dtype: torch.dtype = torch.float32, **options: Any) -> BayesPCN:
    return BayesPCN(Shape(POSITIONS, CHANNELS), BayesPCN.Options(**options), seed, dtype=dtype)


def labels(n: int) -> Tensor:
    return torch.zeros(n, dtype=torch.long)


def pair(beta: float = 0.1, **options: float) -> tuple[BayesPCN, textbook.BayesPCN]:
    both = {"hidden": HIDDEN, "steps": 60, "tolerance": 0.0, **options}
    fast = bayes_pcn(7, torch.float64, beta=beta, **both)
    naive = textbook.BayesPCN((POSITIONS, 1, CHANNELS), 7, hidden=HIDDEN, steps=60, beta=beta)
    return fast, naive


def test_the_gram_form_write_is_the_naive_write_over_three_cycles() -> None:
    fast, naive = pair()
    for cycle in range(3):
        x = maps(6, cycle)
        fast.write(x, labels(6))
        naive.write(x)
        fast.forget()
        naive.forget()
    weights = fast._r.permute(2, 1, 0).reshape(HIDDEN, SIZE)
    torch.testing.assert_close(weights, naive.r, rtol=0, atol=1e-8)
    torch.testing.assert_close(fast._u, naive.u, rtol=0, atol=1e-9)
    torch.testing.assert_close(fast._mu, naive.mu, rtol=0, atol=1e-9)
    assert fast._v == pytest.approx(naive.v)


def energies_of_both_reads(beta: float) -> tuple[Tensor, Tensor]:
    """Energies [24] where the collapsed read ends, and after 500 steps of Adam."""
    fast, naive = pair(beta, read_tolerance=0.0, read_steps=100)
    kept = torch.zeros(6, CHANNELS, dtype=torch.bool)
    kept[:, ::3] = True
    for task in range(4):
        fast.write(maps(6, task), labels(6))
        naive.write(maps(6, task))
        fast.forget()
        naive.forget()
    ours, adams = [], []
    for task in range(4):
        x, fixed = maps(6, task), kept.repeat(1, POSITIONS)
        blocks = x.view(6, POSITIONS, CHANNELS)
        cue = gathered(blocks, kept, torch.zeros(6).long(), torch.arange(6))
        (z,) = fast.latents([cue])
        h = torch.where(z > 0, z, naive.mu.clamp_max(0))
        ours.append(naive.read_energy(h, x, fixed))
        adams.append(naive.read_energy(naive.search(x, fixed, 500), x, fixed))
    return torch.cat(ours), torch.cat(adams)


def test_with_forgetting_the_collapsed_read_ends_no_higher_than_500_steps_of_adam() -> None:
    ours, adam = energies_of_both_reads(beta=0.1)
    assert bool((ours <= adam + 1e-3 * adam.abs()).all())


def test_in_a_full_memory_the_collapsed_read_ends_lower_on_average() -> None:
    """Without forgetting the energy has several valleys: about half of these 24 cues end higher
    than Adam's, the others so much lower that the mean is lower. No cue-by-cue promise is made.
    """
    ours, adam = energies_of_both_reads(beta=0.0)
    assert ours.mean() < adam.mean()


def test_a_fresh_pattern_is_recalled_almost_exactly_and_an_old_one_fades() -> None:
    memory = bayes_pcn(hidden=64)
    kept = torch.zeros(5, CHANNELS, dtype=torch.bool)
    kept[..., :20] = True
    first = maps(5).float()
    errors = []
    for task in range(6):
        memory.write(maps(5, task).float(), labels(5))
        memory.forget()
        errors.append(float((memory.recall(first, kept, labels(5)) - first).square().mean()))
    assert errors[0] < 0.05 * float(first.square().mean())
    assert errors[-1] > errors[0]


def test_joint_adam_is_a_switch_and_reads_worse_or_equal() -> None:
    x = maps(5).float()
    kept = torch.zeros(5, CHANNELS, dtype=torch.bool)
    kept[..., :12] = True
    errors = {}
    for read in ("collapsed", "joint_adam"):
        memory = bayes_pcn(hidden=64, read=read)
        memory.write(x, labels(5))
        errors[read] = float((memory.recall(x, kept, labels(5)) - x).square().mean())
    assert errors["collapsed"] <= errors["joint_adam"]
    assert errors["joint_adam"] < float(x.square().mean())


def test_products_over_masks_are_the_same_one_by_one_or_summed_over_channels() -> None:
    g = torch.Generator().manual_seed(0)
    weights = torch.randn(CHANNELS, POSITIONS, HIDDEN, generator=g, dtype=torch.float64)
    kept = [torch.randperm(CHANNELS, generator=g)[: 5 + k] for k in range(20)]
    together = masked_grams(weights, kept)
    alone = torch.cat([masked_grams(weights, [k]) for k in kept])
    torch.testing.assert_close(together, alone)
    torch.testing.assert_close(together, together.mT)


def test_few_samples_are_multiplied_with_the_whole_of_r_and_many_with_a_copy_of_its_rows() -> None:
    g = torch.Generator().manual_seed(0)
    weights = torch.randn(CHANNELS, POSITIONS, HIDDEN, generator=g, dtype=torch.float64)
    parts = []
    for n, channels in ((1, 9), (MAPS, 20), (3, 20), (5, CHANNELS), (400, 2), (4, 1)):
        kept = torch.randperm(CHANNELS, generator=g)[:channels]
        values = torch.randn(n, channels * POSITIONS, generator=g, dtype=torch.float64)
        parts.append((kept, values))
    found = masked_products(weights, parts)
    for (kept, values), product in zip(parts, found, strict=True):
        torch.testing.assert_close(product, values @ weights[kept].flatten(0, 1))


def test_recalling_stored_cues_is_reading_them_and_pooling() -> None:
    memory = bayes_pcn(dtype=torch.float64, hidden=32)
    x = maps(8)
    memory.write(x, labels(8))
    kept = torch.zeros(8, CHANNELS, dtype=torch.bool)
    kept[:, 5:20] = True
    blocks = x.view(8, POSITIONS, CHANNELS)
    cue = gathered(blocks, kept, torch.zeros(8).long(), torch.arange(8))
    (recalled,) = memory.recall_stored([cue], n_probe=3)
    read = memory.complete(cue.dense(), kept, cue.labels).view(8, POSITIONS, CHANNELS)
    torch.testing.assert_close(recalled.pooled, read.mean(dim=1))
    torch.testing.assert_close(recalled.maps, read[:3])


@pytest.mark.parametrize("read", ["collapsed", "joint_adam"])
def test_many_cues_of_many_sizes_are_recalled_as_each_alone(read: str) -> None:
    """Ten groups: more than are searched at once, and not in the order of their sizes."""
    steps = {"steps": 20, "read_steps": 60, "read_tolerance": 0.0}
    memory = bayes_pcn(dtype=torch.float64, hidden=32, read=read, **steps)
    x = maps(40)
    memory.write(x, labels(40))
    cues = []
    for group, size in enumerate((5, 1, 3, 8, 2, 4, 1, 6, 2, 7)):
        kept = torch.zeros(size, CHANNELS, dtype=torch.bool)
        kept[:, group : group + 12] = True
        blocks = x[group : group + size].view(size, POSITIONS, CHANNELS)
        cues.append(gathered(blocks, kept, torch.full((size,), group), torch.arange(size)))
    together = memory.recall_stored(cues, n_probe=2)
    assert [len(one.pooled) for one in together] == [5, 1, 3, 8, 2, 4, 1, 6, 2, 7]
    if read == "collapsed":  # the joint search starts from a draw for all cues at once
        for cue, one in zip(cues, together, strict=True):
            (alone,) = memory.recall_stored([cue], n_probe=2)
            torch.testing.assert_close(one.pooled, alone.pooled, atol=1e-6, rtol=0)
            torch.testing.assert_close(one.maps, alone.maps, atol=1e-6, rtol=0)
    else:
        columns = zip(*((cue.dense(), cue.kept, cue.labels) for cue in cues), strict=True)
        whole = memory.complete(*map(torch.cat, columns)).view(-1, POSITIONS, CHANNELS)
        pooled = torch.cat([one.pooled for one in together])
        torch.testing.assert_close(pooled, whole.mean(dim=1))


def test_nothing_is_recalled_from_no_cues() -> None:
    assert bayes_pcn(hidden=8).recall_stored([], n_probe=2) == []


def test_a_read_as_short_as_in_the_pipeline_ends_lower_than_it_starts() -> None:
    """40 steps and a tolerance of 0.002, as in params.yaml, against the ridge solution."""
    memory, _ = pair(steps=200, read_steps=40, read_tolerance=2e-3)
    for task in range(4):
        memory.write(maps(6, task), labels(6))
        memory.forget()
    kept = torch.zeros(6, CHANNELS, dtype=torch.bool)
    kept[:, ::3] = True
    posterior = memory.posterior()
    for task in range(4):
        blocks = maps(6, task).view(6, POSITIONS, CHANNELS)
        cue = gathered(blocks, kept, torch.zeros(6).long(), torch.arange(6))
        grams = masked_grams(memory._r, [cue.shared()[0]])
        (products,) = masked_products(memory._r, [cue.shared()])
        padded = memory._padded([(cue.shared()[1], products)], grams)
        start, end = _ridge(padded, posterior), infer_read(padded, posterior, 40, 2e-3)
        energies = [_energy(z, *_slope(z, padded, posterior)[1:], posterior) for z in (start, end)]
        assert bool((energies[1] < energies[0]).all())


def test_a_cue_restores_the_masked_map_and_puts_shared_channels_first() -> None:
    kept = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 0]]).bool()
    index, n_shared = ordered_index(kept)
    assert n_shared == 2
    assert index.tolist() == [[2, 3, 0], [2, 3, 4], [2, 3, 5]]
    blocks = torch.arange(30.0).view(3, 2, 5) + 1
    cue = gathered(blocks, kept, torch.zeros(3).long(), torch.arange(3))
    assert torch.equal(cue.dense().view(3, 2, 5), blocks * kept[:, None])
    assert torch.equal(cue.kept, kept)


def test_masks_that_drift_apart_are_split_where_too_little_is_common() -> None:
    kept = torch.zeros(4, 20, dtype=torch.bool)
    for row, start in enumerate((0, 1, 2, 9)):
        kept[row, start : start + 8] = True
    assert [part.tolist() for part in segments(kept, 0.75)] == [[0, 1, 2], [3]]
    assert [part.tolist() for part in segments(kept, 1.0)] == [[0], [1], [2], [3]]


def test_more_weight_steps_bring_the_network_closer_to_its_batch() -> None:
    x = maps(6).float()
    kept = torch.ones(6, CHANNELS, dtype=torch.bool)
    kept[..., ::2] = False
    errors = []
    for steps in (1, 20):
        memory = PCN(Shape(POSITIONS, CHANNELS), PCN.Options(hidden=64, weight_steps=steps))
        memory.write(x, labels(6))
        errors.append(float((memory.recall(x, kept, labels(6)) - x).square().mean()))
    assert errors[1] < errors[0] < float(x.square().mean())
