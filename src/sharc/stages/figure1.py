"""Stage figure1: raw images -> how well a Hopfield memory and an inpainter restore them.

Images that were stored, and images that never were: a memory can only return what it holds,
so the second half shows what the paper's figure leaves out.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from sharc.artifacts.files import write_atomically, write_json
from sharc.engine.device import one_thread
from sharc.errors import UserError
from sharc.figure1.corruptions import LEVELS, Query, corrupt
from sharc.figure1.rivals import Answer, hopfield, inpainter
from sharc.randomness import generator

RECALLED = 0.005  # mean squared error below which an image counts as recalled
SHOWN = (
    ("salient", 0.5),
    ("salient", 0.75),
    ("salient", 0.9),
    ("block", 0.5),
    ("dropout", 0.75),
    ("noise", 0.8),
)


def build(raw: Path, out: Path, *, options: Mapping[str, Any]) -> None:
    """Write figure1.json (errors per corruption) and examples.safetensors (the image grid)."""
    count, seed = int(options["stored"]), int(options["seed"])
    with torch.no_grad(), one_thread():
        stored, unseen = sample(raw / "train.safetensors", count, seed)
        memory, held = hopfield(stored)
        painter, weights = inpainter(stored, int(options["epochs"]), seed)
        rivals = {"hopfield": memory, "inpainter": painter}
        rows = [
            {"corruption": name, "level": level, "stored": images is stored}
            | scores(images, corrupt(name, level, images, _random(seed, name, level)), rivals)
            for images in (stored, unseen)
            for name, levels in LEVELS.items()
            for level in levels
        ]
        examples = shown(stored, rivals, seed)
    with write_atomically(out / "examples.safetensors") as partial:
        partial.write_bytes(save(examples))
    content = {
        "images": count,
        "floats": {"hopfield": held, "inpainter": weights},
        "recalled_below": RECALLED,
        "scale": [-1, 1],
        "rows": rows,
        "examples": [{"corruption": name, "level": level} for name, level in SHOWN],
    }
    write_json(out / "figure1.json", content)


def sample(path: Path, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """`count` images to store and as many others, [n, 3, H, W] in [-1, 1]."""
    if not path.is_file():
        raise UserError(f"{path} does not exist: build it with `snakemake --cores 2 all`.")
    images = load_file(path)["images"]
    if len(images) < 2 * count:
        raise UserError(
            f"figure1.stored is {count}, but {path} has {len(images)} images and as many again"
            f" must remain unseen: use at most {len(images) // 2}."
        )
    order = torch.randperm(len(images), generator=generator(seed, "figure1", "images"))
    chosen = images[order[: 2 * count]].permute(0, 3, 1, 2).float() / 127.5 - 1
    stored, unseen = chosen.split(count)
    return stored, unseen


def scores(images: Tensor, query: Query, rivals: Mapping[str, Answer]) -> dict[str, Any]:
    """Per rival: mean squared error on the unknown pixels (all, under noise), and recall rate."""
    found = {}
    unknown = query.known if bool(query.known.all()) else ~query.known
    for name, answer in rivals.items():
        error = (answer(query) - images).square().mean(dim=1, keepdim=True) * unknown
        each = error.flatten(1).sum(dim=1) / unknown.flatten(1).sum(dim=1)
        found[name] = {
            "mse": float(each.mean()),
            "recall_rate": float((each < RECALLED).double().mean()),
        }
    return found


def shown(stored: Tensor, rivals: Mapping[str, Answer], seed: int) -> dict[str, Tensor]:
    """One stored image per row of the figure, as bytes [n, H, W, 3]."""
    parts: dict[str, list[Tensor]] = {}
    for row, (name, level) in enumerate(SHOWN):
        image = stored[row : row + 1]
        query = corrupt(name, level, image, _random(seed, "shown", row))
        painted, recalled = (rivals[r](query) for r in ("inpainter", "hopfield"))
        if name != "noise":
            painted, recalled = (torch.where(query.known, image, x) for x in (painted, recalled))
        columns = {"original": image, "query": query.image}
        for column, x in (columns | {"inpainted": painted, "recalled": recalled}).items():
            parts.setdefault(column, []).append(x)
    return {
        column: ((torch.cat(x).clamp(-1, 1) + 1) * 127.5)
        .round()
        .byte()
        .permute(0, 2, 3, 1)
        .contiguous()
        for column, x in parts.items()
    }


def _random(seed: int, *purpose: str | float) -> torch.Generator:
    return generator(seed, "figure1", *(str(part) for part in purpose))
