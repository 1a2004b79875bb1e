"""Stage download: source -> data/raw/<dataset>, every item verified before a file is written."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sharc.artifacts.files import write_json
from sharc.datasets import first_sight
from sharc.datasets.base import SOURCES, Dataset, Expected, Location
from sharc.datasets.raw import SPLITS, Contents, content_digest, item_digests, write_split
from sharc.errors import UserError, unknown


def build(
    dataset: Dataset,
    out: Path,
    *,
    sources: Sequence[str],
    mirror: Path | None,
    options: Mapping[str, Any],
) -> list[str]:
    """Write train.safetensors, test.safetensors and meta.json from the first source that works.

    Returned is what the user should know about the data.
    """
    for source in sources:
        if source not in (*SOURCES, *dataset.sources):
            raise UserError(unknown("source", source, SOURCES))
    location = Location(out.parent.parent / ".downloads" / dataset.name, mirror, options)
    contents, digests = _first_that_works(dataset, sources, location)
    remarks = [*contents.remarks, *_seen_before(dataset, location, contents, digests)]
    (out / "meta.json").unlink(missing_ok=True)  # from here on the folder is not complete
    for name in SPLITS:
        write_split(out / f"{name}.safetensors", contents.split(name), digests[name])
    write_json(out / "meta.json", _meta(dataset, contents, digests))
    return remarks


def _seen_before(
    dataset: Dataset, location: Location, contents: Contents, digests: Mapping[str, list[bytes]]
) -> list[str]:
    """Check what nobody has published against what was seen first, and the splits for overlap."""
    if dataset.expected(location.options):
        return []
    splits = {
        name: {"files": len(found), "sha256": content_digest(found)}
        for name, found in digests.items()
    }
    folder = location.downloads.parent.parent / first_sight.FOLDER.name
    try:
        remarks = [first_sight.check(dataset.name, dataset.seen(location) or splits, folder)]
    except UserError as error:
        raise UserError(f"datasets.{dataset.name}: {error}") from None
    train = set(digests["train"])
    if shared := sum(item in train for item in digests["test"]):
        remarks.append(
            f"{shared} of {len(digests['test'])} test images are training images of the same class "
            "too: accuracy on them tests nothing but memory"
        )
    return [remark for remark in remarks if remark]


def _first_that_works(
    dataset: Dataset, sources: Sequence[str], location: Location
) -> tuple[Contents, dict[str, list[bytes]]]:
    """Splits and item digests of the first source whose content is right."""
    reasons = []
    for source in sources:
        try:
            contents = dataset.read(source, location)
            return contents, _verified(dataset, contents, dataset.expected(location.options))
        except UserError as error:
            reasons.append((source, str(error)))
    if len(reasons) == 1 and not dataset.manual_step(sources[0], location):
        raise UserError(f"datasets.{dataset.name}: {reasons[0][1]}")
    lines = []
    for source, reason in reasons:
        lines.append(f"  {source}: {reason}")
        if source in dataset.sources:
            lines.append(f"    by hand: {dataset.manual_step(source, location)}")
    raise UserError(f"no source of {dataset.name} works:\n" + "\n".join(lines))


def _verified(
    dataset: Dataset, contents: Contents, expected: Mapping[str, Expected]
) -> dict[str, list[bytes]]:
    """Item digests per split, once shapes, counts and content are what they must be."""
    digests = {}
    for name in SPLITS:
        known = expected.get(name) or Expected(len(contents.split(name).labels), None)
        _check_shape(dataset, contents, name, known)
        digests[name] = item_digests(contents.split(name))
        found, right = content_digest(digests[name]), known.digest
        if right is not None and found != right:
            raise UserError(
                f"the {name} images are not the right ones: digest {found}, not {right}"
            )
    return digests


def _check_shape(dataset: Dataset, contents: Contents, name: str, expected: Expected) -> None:
    """Refuse other sizes, other labels, and a class with too few or too many images."""
    side, n_classes, split = dataset.side, dataset.n_classes, contents.split(name)
    if len(contents.class_names) != n_classes:
        raise UserError(f"{n_classes} classes expected, {len(contents.class_names)} found")
    if split.images.shape[1:] != (side, side, 3):
        raise UserError(f"{name} images are {split.images.shape[1:]}, not {(side, side, 3)}")
    labels = np.asarray(split.labels)
    if len(labels) and (labels.min() < 0 or labels.max() >= n_classes):
        raise UserError(f"{name} labels leave 0..{n_classes - 1}")
    counts = np.bincount(labels, minlength=n_classes)
    poorest = int(counts.argmin())
    if counts.sum() != expected.items:
        raise UserError(
            f"{expected.items} {name} images expected, {counts.sum()} found; class "
            f"{contents.class_names[poorest]!r} has the fewest: {counts[poorest]}"
        )


def _meta(
    dataset: Dataset, contents: Contents, digests: Mapping[str, list[bytes]]
) -> dict[str, Any]:
    """What a reader needs to know; nothing about the source, so that all sources agree."""
    return {
        "dataset": dataset.name,
        "classes": list(contents.class_names),
        "side": dataset.side,
        "mean": list(dataset.mean),
        "std": list(dataset.std),
        "splits": {
            name: {
                "items": len(contents.split(name).labels),
                "per_class": np.bincount(
                    contents.split(name).labels, minlength=dataset.n_classes
                ).tolist(),
                "digest": content_digest(digests[name]),
            }
            for name in SPLITS
        },
    }
