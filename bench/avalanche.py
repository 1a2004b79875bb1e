"""ER and A-GEM by Avalanche, in a process of its own because it may need other versions than we do.

It has packages of its own and shares torch with us. As a program it is that process: it answers
each line `method classes share` on its input by the CPU seconds that one run took.
"""

import subprocess
import sys
from typing import Any

from bench.machine import EXTRAS, ROOT, environment
from bench.timing import spent

ABSENT = f"not measured: {EXTRAS.relative_to(ROOT)} lacks it; `make bench` installs it"


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

    def train(self, method: str, classes: int, share: float) -> float:
        """CPU seconds of one run."""
        assert self._process.stdin is not None
        print(method, classes, share, file=self._process.stdin, flush=True)
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        if self.version is not None:
            self._process.communicate()


def train(method: str, stream: Any, buffer: int = 200) -> float:
    """CPU seconds of one run on all tasks, without evaluation."""
    import torch
    from avalanche.benchmarks import benchmark_from_datasets
    from avalanche.benchmarks.utils import as_classification_dataset
    from avalanche.evaluation.metrics import accuracy_metrics
    from avalanche.training.plugins import EvaluationPlugin
    from avalanche.training.supervised import AGEM, Replay

    class Labelled(torch.utils.data.TensorDataset):
        """Avalanche reads the labels from `targets`."""

        def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
            super().__init__(x, y)
            self.targets = y.tolist()

    tasks = [Labelled(stream.x[t], stream.y[t]) for t in stream.train_tasks]
    benchmark = benchmark_from_datasets(train=[as_classification_dataset(task) for task in tasks])
    model = torch.nn.Linear(stream.n_features, stream.n_classes)
    common = {
        "model": model,
        "criterion": torch.nn.CrossEntropyLoss(),
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
        "train_mb_size": 10,
        "train_epochs": 1,
        "evaluator": EvaluationPlugin(accuracy_metrics(epoch=False), loggers=[]),
    }
    if method == "er":
        strategy = Replay(mem_size=buffer, **common)  # draws as many as a batch has
    else:
        sample = max(10, stream.n_tasks)  # Avalanche wants one example of each task at least
        patterns = buffer // stream.n_tasks
        strategy = AGEM(patterns_per_exp=patterns, sample_size=sample, **common)

    def run() -> None:
        for experience in benchmark.train_stream:
            strategy.train(experience, num_workers=0)

    return spent(run)


def serve() -> None:
    """Answer requests until the input ends."""
    from functools import cache
    from importlib.metadata import version

    from bench.streams import shape_of, synthetic
    from sharc.engine.device import one_thread

    stream = cache(lambda classes, share: synthetic(shape_of(int(classes)), float(share)))
    with one_thread():
        print(f"bench: {version('avalanche-lib')} with torch {version('torch')}", flush=True)
        for line in sys.stdin:
            method, classes, share = line.split()
            print("bench:", train(method, stream(classes, share)), flush=True)


if __name__ == "__main__":
    serve()
