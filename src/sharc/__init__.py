"""SHARC, reproduced: train continual-learning methods on cached features, with and without it.

    import sharc

    params = sharc.load_params("demo")           # the checked params.yaml of this project
    stream = sharc.load_stream("digits", params)  # cached features, as a sequence of tasks
    er = sharc.train("er", stream, params, buffer=50)
    er_plus = sharc.train("er", stream, params, buffer=50, memory="bayes_pcn", theta=0.5)
    sharc.summary(er, er_plus)                    # a data frame: mean, interval, paired gain
    sharc.plot_curves(er, er_plus)                # a figure

`docs/tutorial.ipynb` goes from here to a method of your own. Names are imported when they are first
used: `import sharc` alone loads neither torch nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sharc.mkl import fix_order_of_sums

if TYPE_CHECKING:
    from sharc.engine.task_stream import TaskStream as TaskStream
    from sharc.errors import UserError as UserError
    from sharc.experiment import Trained as Trained
    from sharc.experiment import summary as summary
    from sharc.experiment import train as train
    from sharc.experiment_figures import plot_curves as plot_curves
    from sharc.experiment_figures import plot_summary as plot_summary
    from sharc.memories.base import AssociativeMemory as AssociativeMemory
    from sharc.project import load_params as load_params
    from sharc.results.folder import Results as Results
    from sharc.strategies.base import Strategy as Strategy
    from sharc.strategies.by_loss import LossStrategy as LossStrategy
    from sharc.streams import load_stream as load_stream
    from sharc.streams import make_stream as make_stream

    __version__: str

_HOMES = {
    "load_params": "sharc.project",
    "load_stream": "sharc.streams",
    "make_stream": "sharc.streams",
    "train": "sharc.experiment",
    "summary": "sharc.experiment",
    "Trained": "sharc.experiment",
    "plot_curves": "sharc.experiment_figures",
    "plot_summary": "sharc.experiment_figures",
    "TaskStream": "sharc.engine.task_stream",
    "Strategy": "sharc.strategies.base",
    "LossStrategy": "sharc.strategies.by_loss",
    "AssociativeMemory": "sharc.memories.base",
    "Results": "sharc.results.folder",
    "UserError": "sharc.errors",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604, all are names

fix_order_of_sums()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("sharc")
    if name not in _HOMES:
        raise AttributeError(f"module 'sharc' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
