"""One run of Algorithm 1 on handwritten digits: python -m sharc.textbook. See docs/method.md."""

import torch
from sklearn.datasets import load_digits
from torch import Tensor
from torch.nn.functional import conv2d

from sharc.engine.device import one_thread
from sharc.engine.task_stream import TaskStream
from sharc.textbook.bayes_pcn import BayesPCN
from sharc.textbook.sharc import AssociativeMemory, Run, backbone, capacity, train

CHANNELS, SIDE, TASKS, BUFFER, THETA = 64, 4, 5, 20, 0.8
OPTIONS = {"learning_rate": 0.5, "batch": 10, "replay_batch": 10, "memory_strength": 1.0}


class Maps:
    """Feature maps [n, H, W, K], held in memory."""

    def __init__(self, maps: Tensor) -> None:
        self.maps = maps

    def rows(self, index: Tensor) -> Tensor:
        """Some images' maps."""
        return self.maps[index]


def digits() -> TaskStream:
    """Five tasks of two digits each, seen through a frozen g: 64 filters cut from digits."""
    data = load_digits()
    y = torch.from_numpy(data.target).long()
    images = torch.from_numpy(data.images).float().unsqueeze(1) / 16  # [N, 1, 8, 8]
    some = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))[:CHANNELS]
    filters = images[some, :, :7, :7] - images[some, :, :7, :7].mean(dim=(2, 3), keepdim=True)
    filters = filters / filters.square().sum(dim=(2, 3), keepdim=True).sqrt()
    maps = conv2d(images - images.mean(), filters, padding=1).relu()  # [N, K, H, W]
    maps = maps.permute(0, 2, 3, 1).contiguous()
    x = maps.mean(dim=(1, 2))
    classes = [[2 * t, 2 * t + 1] for t in range(TASKS)]
    place = torch.arange(len(y))
    tasks = [place[(y // 2) == t] for t in range(TASKS)]
    parts = [[i[i % 5 != 0] for i in tasks], [i[i % 5 == 0] for i in tasks]]  # a fifth for testing
    return TaskStream(
        x, y, parts[0], x, y, parts[1], classes, 2 * TASKS, maps=Maps(maps), map_size=(SIDE, SIDE)
    )


def show(name: str, run: Run) -> None:
    """What is held, and the accuracy on each task after the last."""
    held = sum(len(episode.y) for episode in run.episodes)
    print(f"{name}: {held} examples held")
    for scenario, rows in (("Class-IL", run.class_il), ("Task-IL", run.task_il)):
        each = " ".join(f"{value:5.1f}" for value in rows[-1])
        print(f"  {scenario:8} {each}   mean {sum(rows[-1]) / TASKS:5.1f}")


def recall_error(run: Run, stream: TaskStream, memory: AssociativeMemory) -> list[float]:
    """Per task, the mean squared error of what was dropped over that of leaving zeros there."""
    errors = []
    for episode in run.episodes:  # what was kept is the same in all three: nothing is left of it
        whole, recalled = backbone(stream, 0, maps=True)(episode.index), episode.recall(memory).x
        error = (whole - recalled).square().sum() / (whole - episode.x).square().sum()
        errors.append(float(error))
    return errors


def main() -> None:
    """ER, then ER with SHARC."""
    stream = digits()
    whole, masked = (capacity(stream, BUFFER, theta) for theta in (0.0, THETA))
    size = f"{SIDE}x{SIDE}x{CHANNELS}"
    print(f"maps {size}, {whole} whole ones per task, or {masked} at theta {THETA}")
    show("ER", train("er", stream, 0, BUFFER, OPTIONS))
    memory = BayesPCN((SIDE, SIDE, CHANNELS), seed=0, hidden=32, steps=40)
    plus = train("er", stream, 0, BUFFER, OPTIONS, memory, THETA)
    show("ER+", plus)
    errors = " ".join(f"{error:5.2f}" for error in recall_error(plus, stream, memory))
    print(f"  recall   {errors}   1 is what leaving zeros costs")


if __name__ == "__main__":
    with one_thread():
        main()
