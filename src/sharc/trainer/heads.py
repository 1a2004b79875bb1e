"""The head that a strategy trains, with its initial weights."""

from importlib import import_module
from typing import cast

import torch

from sharc.engine.head import Head
from sharc.engine.mlp import MLPHead
from sharc.engine.task_stream import TaskStream
from sharc.errors import MethodError
from sharc.options.methods import MethodOptions
from sharc.references import source_line
from sharc.strategies.base import Strategy


def suited(strategy_class: type[Strategy], head: str) -> type[Strategy]:
    """The class that trains such a head: a closed form's loss form if it is not linear."""
    if head == "linear" or not strategy_class.needs_linear_head:
        return strategy_class
    if strategy_class.loss_form is None:
        raise MethodError(
            f"{source_line(strategy_class)}: {strategy_class.__name__} knows its gradient only"
            f" for a linear head, but train.classifier is {head!r}: set it to linear, or write the"
            " method as a loss (a subclass of sharc.strategies.by_loss.LossStrategy)."
        )
    module, _, name = strategy_class.loss_form.partition(":")
    found: type[Strategy] = getattr(import_module(module), name)
    return found


def initial_head(
    generators: list[torch.Generator],
    stream: TaskStream,
    strategy_class: type[Strategy],
    options: MethodOptions,
) -> Head:
    """One layer, or two for a strategy by loss: a closed form knows the gradient of one alone."""
    if options.classifier == "linear":
        whole = strategy_class.replay_mode(options) == "all"
        shape = (stream.n_features, stream.n_classes)
        return Head.initial(generators, *shape, stream.x, many_rows=whole)
    sizes = (stream.n_features, options.hidden, stream.n_classes)
    mlp = MLPHead.initial(generators, sizes, stream.x)
    return cast(Head, mlp)  # it does what a strategy by loss asks of a head
