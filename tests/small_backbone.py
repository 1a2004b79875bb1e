"""A frozen network of a few thousand weights, for tests of everything around the network."""

from pathlib import Path

import torch
from torch import nn

from sharc.artifacts.files import write_json
from sharc.backbones.base import Backbone
from sharc.datasets.raw import Split, content_digest, item_digests, write_split
from small_sources import random_split


class SmallBackbone(Backbone):
    """Strided convolution, BatchNorm and ReLU twice: 8 channels, stride 4."""

    name = "small"
    mean = (0.5, 0.5, 0.5)
    std = (0.25, 0.25, 0.25)

    def architecture(self, image_size):
        return nn.Sequential(
            nn.Conv2d(3, 6, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(),
            nn.Conv2d(6, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
        )  # fmt: skip

    def map_of(self, network):
        return network

    def default_weights(self):
        raise AssertionError("the tests give the file")


def small_backbone(path: Path, seed=0):
    """A backbone whose random weights, BatchNorm statistics included, lie at `path`."""
    torch.manual_seed(seed)
    network = SmallBackbone().architecture(0)
    for name, value in network.state_dict().items():
        if name.endswith("running_var"):
            value.uniform_(0.5, 2)
        elif value.is_floating_point():
            value.normal_(std=0.5)
    torch.save(network.state_dict(), path)
    return SmallBackbone(path)


def small_raw(folder: Path, train=20, test=7, side=8):
    """A raw data set of three classes; the classes take turns being the largest."""
    meta = {"dataset": "toy", "classes": list("abc"), "side": side, "splits": {}}
    meta |= {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4]}
    for name, items, seed in (("train", train, 0), ("test", test, 1)):
        whole = random_split(3, -(-items // 3), side, seed)
        split = Split(whole.images[:items], whole.labels[:items])
        digests = item_digests(split)
        write_split(folder / f"{name}.safetensors", split, digests)
        meta["splits"][name] = {"items": items, "digest": content_digest(digests)}
    write_json(folder / "meta.json", meta)
    return folder
