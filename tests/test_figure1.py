"""Figure 1's corruptions, its two rivals, and the stage that compares them."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from sharc.errors import UserError
from sharc.figure1.corruptions import LEVELS, corrupt
from sharc.figure1.inpainter import Inpainter
from sharc.figure1.rivals import hopfield
from sharc.stages.figure1 import SHOWN, build


def pictures(n: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(n, 3, 8, 8, generator=torch.Generator().manual_seed(seed)) * 2 - 1


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    g = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (60, 8, 8, 3), generator=g, dtype=torch.uint8)
    save_file({"images": images, "labels": torch.arange(60) % 10}, tmp_path / "train.safetensors")
    return tmp_path


@pytest.mark.parametrize("name", [n for n in LEVELS if n != "noise"])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_a_corruption_drops_the_share_it_names(name: str, share: float) -> None:
    query = corrupt(name, share, pictures(5), torch.Generator().manual_seed(1))
    lost = 1 - query.known.float().mean(dim=(1, 2, 3))
    assert torch.allclose(lost, torch.full((5,), share), atol=0.07)  # 6 x 6 of 8 x 8 is 0.56
    assert bool((query.image[~query.known.expand_as(query.image)] == 0).all())


def test_salient_pixels_are_those_that_stand_out() -> None:
    image = torch.zeros(1, 3, 8, 8)
    image[0, :, 3, 4] = 1.0
    assert bool(corrupt("salient", 0.9, image, torch.Generator()).known[0, 0, 3, 4])


def test_noise_has_the_deviation_it_names() -> None:
    images = torch.zeros(50, 3, 8, 8)
    query = corrupt("noise", 0.4, images, torch.Generator().manual_seed(0))
    assert float(query.image.std()) == pytest.approx(0.4, rel=0.05)


@pytest.mark.parametrize("n_floats", [19_200, 307_200, 100_000])
def test_the_inpainter_has_as_many_weights_as_the_memory_within_a_tenth(n_floats: int) -> None:
    assert Inpainter(n_floats).n_floats() == pytest.approx(n_floats, rel=0.1)


def test_a_stored_image_is_recalled_from_a_quarter_of_its_pixels() -> None:
    images = pictures(20)
    answer, held = hopfield(images)
    query = corrupt("dropout", 0.75, images, torch.Generator().manual_seed(2))
    torch.testing.assert_close(answer(query), images, atol=1e-3, rtol=0)
    assert held == images.numel()


def test_the_stage_writes_errors_and_examples_and_repeats_itself(raw: Path) -> None:
    options = {"stored": 20, "epochs": 2, "seed": 3}
    for out in ("a", "b"):
        build(raw, raw / out, options=options)
    content = json.loads((raw / "a/figure1.json").read_text())
    assert len(content["rows"]) == 2 * sum(len(levels) for levels in LEVELS.values())
    unseen = [row for row in content["rows"] if not row["stored"]]
    assert all(row["hopfield"]["recall_rate"] == 0 for row in unseen)
    for name in ("figure1.json", "examples.safetensors"):
        assert (raw / "a" / name).read_bytes() == (raw / "b" / name).read_bytes()
    examples = load_file(raw / "a/examples.safetensors")
    assert set(examples) == {"original", "query", "inpainted", "recalled"}
    assert examples["query"].shape == (len(SHOWN), 8, 8, 3)


def test_too_few_images_are_named(raw: Path) -> None:
    with pytest.raises(UserError, match=r"figure1.stored is 40.*at most 30"):
        build(raw, raw / "out", options={"stored": 40, "epochs": 2, "seed": 0})
