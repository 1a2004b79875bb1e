"""Real images through real weights: how often a backbone is right about them."""

from pathlib import Path

import numpy as np
import torch

from linear_probe import probe_accuracy
from sharc.datasets.archives import members
from sharc.datasets.images import sized
from sharc.features.engines import choose_engine
from sharc.features.pipeline import Extractor


def pooled(backbone, images, size, threads=2, engine="auto"):
    """Pooled features of uint8 images under the backbone's own preprocessing."""
    side = images.shape[1]
    extractor = Extractor(backbone.load(size), side, size)
    extractor.normalised_with(backbone.mean, backbone.std).eval()
    runner = choose_engine(extractor, side, engine=engine, device="cpu", batch=8, threads=threads)
    return torch.from_numpy(runner.features(images)[0])


def spread(raw, split, count):
    """`count` images of a raw data set, as many of each class, the first ones."""
    labels = raw.labels(split)
    each = count // (int(labels.max()) + 1)
    rows = np.concatenate([np.flatnonzero(labels == c)[:each] for c in np.unique(labels)])
    return np.array(raw.images(split)[rows]), torch.from_numpy(labels[rows])


def probe(backbone, raw, size, train=1_000, test=400, features=pooled, decay=1e-3):
    """Test accuracy of a linear classifier on a part of a raw data set."""
    images, labels = spread(raw, "train", train)
    unseen, answers = spread(raw, "test", test)
    return probe_accuracy(
        features(backbone, images, size),
        labels,
        features(backbone, unseen, size),
        answers,
        decay=decay,
    )


def mini_imagenet(mirror: Path, count, seed=0):
    """`count` random test images of mini-ImageNet and the ImageNet synsets they are of."""
    wanted = lambda name: name.endswith(".jpg")  # noqa: E731
    names, images = [], []
    for name, content in members(mirror / "mini_imagenet" / "val.tar.xz", wanted):
        names.append(Path(name).parent.name)
        images.append(content)
    rows = np.random.default_rng(seed).permutation(len(images))[:count]
    pixels = np.stack([sized(images[row], names[row], 84) for row in rows])
    return pixels, [names[row] for row in rows]


def top_five(backbone, features, synsets, order):
    """Share of images whose synset is among the five likeliest of the network's own classifier."""
    with torch.no_grad():
        best = backbone.network(224).fc(features).topk(5).indices
    right = torch.tensor([order.index(synset) for synset in synsets])
    return float((best == right[:, None]).any(dim=1).float().mean())
