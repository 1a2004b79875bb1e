"""Artifacts through an S3 server: a second clone pulls them and has nothing to run."""

import hashlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from project import Project, built
from test_both_tools import wait_for

pytestmark = pytest.mark.slow
BUCKET = "sharc-artifacts"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
LITE0 = "digits/efficientnet_lite0"


class S3:
    """The bucket on a server of our own."""

    def __init__(self, url: str) -> None:
        import boto3

        self.url = url
        self._client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        )

    def create(self) -> None:
        """Make the bucket."""
        self._client.create_bucket(Bucket=BUCKET)

    def corrupt(self, content: bytes) -> None:
        """Flip one bit of the object in which DVC keeps `content`."""
        md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
        where = {"Bucket": BUCKET, "Key": f"cache/files/md5/{md5[:2]}/{md5[2:]}"}
        assert self._client.get_object(**where)["Body"].read() == content
        wrong = content[:-5] + bytes([content[-5] ^ 1]) + content[-4:]
        self._client.put_object(**where, Body=wrong)


@pytest.fixture
def s3() -> Iterator[S3]:
    """Moto's S3 server on loopback, in memory."""
    pytest.importorskip("moto")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: answers(port))
        bucket = S3(f"http://127.0.0.1:{port}")
        bucket.create()
        yield bucket
    finally:
        server.terminate()
        server.wait(timeout=30)


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_clone_that_pulls_from_s3_runs_nothing_and_a_corrupted_object_is_noticed(
    project: Project, s3: S3, tmp_path: Path
):
    project.run("dvc", "remote", "add", "s3", f"s3://{BUCKET}/cache", "--default", "--force")
    project.run("dvc", "remote", "modify", "s3", "endpointurl", s3.url)
    project.commit("an S3 remote")
    project.run("dvc", "push", env=KEYS)

    second = clone_of(project, tmp_path / "second")
    second.run("dvc", "pull", env=KEYS)
    assert "Nothing to be done" in second.snakemake()
    assert "up to date" in second.run("dvc", "status")
    assert second.results() == project.results()

    run = f"outputs/runs/{LITE0}/er/dense/b50/seed0.json"
    s3.corrupt((project.folder / run).read_bytes())
    third = clone_of(project, tmp_path / "third")
    third.run("dvc", "pull", env=KEYS, code=None)
    output = third.snakemake()
    assert f"{run} was modified" in output or f"{run} is missing" in output
    assert built(output) == {f"train:{LITE0}/er/dense"}
    assert third.results() == project.results()


def clone_of(project: Project, folder: Path) -> Project:
    """A second user's clone: Git's files alone."""
    project.run("git", "clone", "-q", ".", str(folder))
    return Project(folder)
