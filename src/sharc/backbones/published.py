"""Weights published by torchvision, downloaded once into torch's own cache and checked."""

from pathlib import Path
from typing import Any
from urllib.error import URLError

import torch

from sharc.errors import UserError


def kept_at(name: str) -> Path:
    """Where a fetched weight file is kept."""
    return Path(torch.hub.get_dir()) / "checkpoints" / name


def fetched(weights: Any, backbone: str) -> Path:
    """The file of a torchvision weight enum; its name carries the start of its sha256."""
    url = str(weights.url)
    target = kept_at(url.rsplit("/", maxsplit=1)[-1])
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    prefix = target.stem.rsplit("-", maxsplit=1)[-1]
    try:
        torch.hub.download_url_to_file(url, str(target), hash_prefix=prefix)
    except (URLError, OSError, RuntimeError) as error:
        raise UserError(
            f"the weights of {backbone} could not be fetched ({error}). By hand: download {url} "
            f"and put it at {target}, or name its folder in SHARC_WEIGHTS as {backbone}.pth."
        ) from None
    return target
