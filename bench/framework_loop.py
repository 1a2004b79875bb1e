"""ER as a continual-learning framework steps it: a data loader, a reservoir, one row at a time.

The step has the shape of Mammoth's `er` (Buzzega et al. 2020): a DataLoader that collates single
examples, a buffer that draws with NumPy, stacks the drawn rows one by one and offers every new row
to a reservoir, and a loss read back as a number after each step. It is written for this
comparison; Mammoth's own loop does more (logging, hooks, progress) and is slower.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from sharc.engine.task_stream import TaskStream


class Reservoir:
    """At most `size` rows, each row met so far equally likely to be among them."""

    def __init__(self, size: int, n_features: int) -> None:
        self.x, self.y = torch.zeros(size, n_features), torch.zeros(size, dtype=torch.long)
        self.seen = 0

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        """Rows and labels, without repetition."""
        held = min(self.seen, len(self.y))
        at = np.random.choice(held, min(count, held), replace=False)
        return torch.stack([self.x[i] for i in at]), self.y[torch.from_numpy(at)]

    def add(self, x: Tensor, y: Tensor) -> None:
        """Offer each row."""
        for row, label in zip(x, y, strict=True):
            at = self.seen if self.seen < len(self.y) else np.random.randint(0, self.seen + 1)
            if at < len(self.y):
                self.x[at], self.y[at] = row, label
            self.seen += 1


def train_framework(stream: TaskStream, seed: int, buffer: int) -> nn.Linear:
    """One run of ER over all tasks, without evaluation."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    model = nn.Linear(stream.n_features, stream.n_classes)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    memory = Reservoir(buffer, stream.n_features)
    for task in stream.train_tasks:
        data = TensorDataset(stream.x[task], stream.y[task])
        for x, y in DataLoader(data, batch_size=10, shuffle=True, drop_last=True):
            optimiser.zero_grad()
            rows, labels = x, y
            if memory.seen:
                old_x, old_y = memory.draw(10)
                rows, labels = torch.cat((x, old_x)), torch.cat((y, old_y))
            loss = cross_entropy(model(rows), labels)
            loss.backward()
            optimiser.step()
            memory.add(x, y)
            loss.item()
    return model
