"""Avalanche in a process of its own, because it may need other versions than we do.

The variable SHARC_AVALANCHE_PYTHON names a Python that has `avalanche-lib`; without it this
Python is tried.  As a program it is that process: it answers each line `method classes share` on
its input by the CPU seconds that one run took.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.timing import Spent

ROOT = Path(__file__).parents[1]
ABSENT = (
    "Avalanche was not measured: no Python with `avalanche-lib` was found. Install it with "
    "`pip install avalanche-lib==0.6.0` into a virtual environment of its own that also has torch "
    "and set SHARC_AVALANCHE_PYTHON to that environment's python."
)


class Avalanche:
    """The other process; `version` is None where it cannot be had."""

    def __init__(self, wanted: bool = True) -> None:
        self.version: str | None = None
        if not wanted:
            return
        python = os.environ.get("SHARC_AVALANCHE_PYTHON", sys.executable)
        path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        try:
            self._process = subprocess.Popen(
                [python, "-W", "ignore", "-m", "bench.avalanche"],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
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
    print("bench:", version("avalanche-lib"), flush=True)
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
