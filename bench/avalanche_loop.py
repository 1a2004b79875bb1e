"""ER and A-GEM by Avalanche on the same features; needs the optional package `avalanche-lib`."""

import time

import torch
from avalanche.benchmarks import benchmark_from_datasets
from avalanche.benchmarks.utils import as_classification_dataset
from avalanche.evaluation.metrics import accuracy_metrics
from avalanche.training.plugins import EvaluationPlugin
from avalanche.training.supervised import AGEM, Replay
from torch.utils.data import TensorDataset

from sharc.engine.task_stream import TaskStream


class Labelled(TensorDataset):  # type: ignore[misc]
    """Avalanche reads the labels from `targets`."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        super().__init__(x, y)
        self.targets = y.tolist()


def seconds(method: str, stream: TaskStream, buffer: int = 200) -> float:
    """CPU time of training one run on all tasks, without evaluation."""

    def parts(x: torch.Tensor, y: torch.Tensor, tasks: list[torch.Tensor]) -> list[object]:
        return [as_classification_dataset(Labelled(x[t], y[t])) for t in tasks]

    benchmark = benchmark_from_datasets(train=parts(stream.x, stream.y, stream.train_tasks))
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
        patterns = buffer // stream.n_tasks
        sample = max(10, stream.n_tasks)  # Avalanche wants one example of each task at least
        strategy = AGEM(patterns_per_exp=patterns, sample_size=sample, **common)
    start = time.process_time()
    for experience in benchmark.train_stream:
        strategy.train(experience, num_workers=0)
    return time.process_time() - start
