"""Whether a run gives the same bits alone and stacked with others, for each of the strategies."""

import torch

from bench.section import Section, Size
from bench.streams import Shape, synthetic
from bench.timing import Measure
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.stack import Stack
from sharc.registry import METHODS, load


def run(size: Size) -> Section:
    """The heads of three seeds trained together against each trained alone."""
    section = Section("identity", "Stacked and lone runs")
    stream = synthetic(Shape(train=1000, test=100))
    same = []
    with torch.no_grad(), one_thread():
        for method in METHODS:
            strategy = load("method", method)
            options = strategy.complete({"device": "cpu"})
            weights = []
            for seeds in ((0, 1, 2), (0,), (1,), (2,)):
                runs = [RunSpec(seed, 50) for seed in seeds]
                buffer = None
                if strategy.replays != "none":
                    buffer = DenseBuffer(stream, runs, options, strategy.wants_logits)
                stack = Stack(stream, runs, strategy, options, buffer)
                stack.train()
                weights.append(stack.head.weight)
            if torch.equal(weights[0], torch.cat(weights[1:])):
                same.append(method)
    section.measures["stacked_equals_lone"] = Measure.of([len(same)])
    section.notes.append(
        f"The same bits alone and stacked: {', '.join(same)} ({len(same)} of {len(METHODS)})."
    )
    return section
