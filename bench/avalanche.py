"""Avalanche in a process of its own, because it may need other versions than we do.

It has packages of its own and shares torch with us. As a program it is that process: it answers
each line `method classes share` on its input by the CPU seconds that one run took.
"""

import json
import subprocess
import sys

from bench.machine import EXTRAS, ROOT, environment
from bench.timing import Spent

ABSENT = (
    f"Avalanche was not measured: {EXTRAS.relative_to(ROOT)} lacks it; `make bench` installs it."
)


class Avalanche:
    """The other process; `version` is None where it cannot be had."""

    def __init__(self, wanted: bool = True) -> None:
        self.version: str | None = None
        if not wanted:
            return
        try:
            self._process = subprocess.Popen(
                [EXTRAS / "python", "-W", "ignore", "-m", "bench.avalanche"],
                cwd=ROOT,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError:
            return
        self.version = self._answer() or None

    def _answer(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("bench: "):  # the library prints progress of its own
                return line.removeprefix("bench: ").strip()
        return ""

    def seconds(self, method: str, classes: int, share: float) -> Spent:
        """Time of one run."""
        assert self._process.stdin is not None
        print(method, classes, share, file=self._process.stdin, flush=True)
        answer = json.loads(self._answer())
        return Spent(*answer)

    def close(self) -> None:
        """End the process."""
        if self.version is not None:
            self._process.communicate()


def serve() -> None:
    """Answer requests until the input ends."""
    import time
    from importlib.metadata import version

    import torch

    from bench.avalanche_loop import seconds
    from bench.streams import CIFAR10, CIFAR100, synthetic

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    print(f"bench: {version('avalanche-lib')} with torch {version('torch')}", flush=True)
    streams = {}
    for line in sys.stdin:
        method, classes, share = line.split()
        key = (classes, share)
        if key not in streams:
            shape = CIFAR10 if classes == "10" else CIFAR100
            streams[key] = synthetic(shape, float(share))
        wall = time.perf_counter()
        cpu = seconds(method, streams[key])
        print("bench:", json.dumps([cpu, time.perf_counter() - wall]), flush=True)


if __name__ == "__main__":
    serve()
