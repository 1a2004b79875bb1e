"""A small stream of Gaussian blobs, hard enough that methods differ on it."""

import torch

from sharc.engine.task_stream import TaskStream


def toy_stream(
    tasks: int = 3,
    per_task: int = 2,
    examples: int = 60,
    features: int = 12,
    noise: float = 0.5,
    seed: int = 0,
) -> TaskStream:
    source = torch.Generator().manual_seed(seed)
    n_classes = tasks * per_task
    centres = torch.randn(n_classes, features, generator=source)

    def split(n: int) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        y = torch.arange(n_classes).repeat_interleave(n)
        x = centres[y] + noise * torch.randn(len(y), features, generator=source)
        return x, y, list(torch.arange(len(y)).split(n * per_task))

    x, y, train_tasks = split(examples // per_task)
    test_x, test_y, test_tasks = split(20)
    classes = [list(range(t * per_task, (t + 1) * per_task)) for t in range(tasks)]
    return TaskStream(x, y, train_tasks, test_x, test_y, test_tasks, classes, n_classes, name="toy")
