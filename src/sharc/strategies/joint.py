"""Joint training on all tasks' data in one epoch at the end: the upper bound."""

from typing import ClassVar

from sharc.strategies.sgd import SGD


class Joint(SGD):
    """SGD without a sequence; the last, smaller batch is used as well."""

    loss_form = "sharc.strategies.loss_forms:Joint"
    joint: ClassVar[bool] = True
