"""Train methods from Python as the pipeline does: same options, same generators, same bits."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from sharc.artifacts.runs import DENSE
from sharc.config import Params
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.errors import UserError
from sharc.grid import Cell, Variant
from sharc.pipeline.options import train_settings
from sharc.project import load_params
from sharc.registry import pick
from sharc.results import tidy
from sharc.results.records import Run
from sharc.results.summary import summarise
from sharc.stages.methods import make_method
from sharc.stages.train import Method, record_of
from sharc.strategies.base import Strategy
from sharc.trainer.train import train as train_runs

SHOWN = (
    "method", "variant", "buffer", "scenario", "n", "acc_mean", "acc_sd", "acc_low", "acc_high",
    "bwt_mean", "gain_mean", "gain_low", "gain_high",
)  # fmt: skip


@dataclass(frozen=True)
class Trained:
    """A method trained on a stream, once per seed. `train` makes it, `summary` compares several.

    runs: what each seed left: accuracy matrices of both scenarios, bytes held, errors of recall;
    the content of the pipeline's records under outputs/runs.
    """

    name: str
    runs: list[Run]
    joint_bwt: str = "not_applicable"

    @property
    def variant(self) -> str:
        """`dense`, or the memory and theta of its SHARC form: `bayes_pcn-t0.5`."""
        return str(self.runs[0].identity["variant"])

    @property
    def frame(self) -> pd.DataFrame:
        """One row per run and scenario: ACC, BWT, forgetting, items and bytes held."""
        return tidy.runs(self.runs, self.joint_bwt)

    @property
    def curves(self) -> pd.DataFrame:
        """Mean accuracy on the tasks seen so far, one row per run, scenario and task."""
        return tidy.curves(self.runs)

    @property
    def recall(self) -> pd.DataFrame:
        """What came back from the associative memory, one row per run, stored task and later task:
        mean squared error of the recalled maps, and of zeros and the class mean instead.
        """
        return tidy.recall(self.runs)

    def __repr__(self) -> str:
        ok = self.frame[self.frame["status"] == "ok"]
        means = ok.groupby("scenario")["acc"].agg(["mean", "std"])
        said = [f"{name} {row['mean']:.1f} ± {row['std']:.1f}" for name, row in means.iterrows()]
        what = f"{self.name}, {self.variant}, {len(self.runs)} seeds"
        return f"<{what}: ACC {', '.join(said) or 'of no successful run'}>"


def train(  # noqa: PLR0913 - all but three have a good default
    method: str | type[Strategy],
    stream: TaskStream,
    params: Params | None = None,
    *,
    buffer: int | None = None,
    memory: str | None = None,
    theta: float | None = None,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    name: str | None = None,
    **options: Any,
) -> Trained:
    """Train a method on a stream of tasks, all seeds in lock-step.

    method: a registered name such as "er", or a subclass of Strategy of your own.
    buffer: how many whole maps' worth of numbers it may store; by default the suite's smallest.
    memory, theta: with both, the method's SHARC form: a share theta of each map's channels is
        dropped and recalled by this associative memory, such as "bayes_pcn".
    name: what to call the method in tables, if not by its own name.
    options: of the method, overriding those of params.yaml, such as margin=0.25 for "gem".

    For example:

        er = sharc.train("er", stream, buffer=50)
        er_plus = sharc.train("er", stream, buffer=50, memory="bayes_pcn", theta=0.5)
        sharc.summary(er, er_plus)
    """
    _check(memory, theta, seeds)
    params = params or load_params()
    made = _made(method, memory, params, options)
    smallest = min(params.chosen.buffers) if buffer is None else buffer
    size = 0 if made.strategy.replays == "none" else smallest
    specs = [RunSpec(seed=seed, buffer=size, theta=theta) for seed in seeds]
    results = train_runs(stream, specs, made.strategy, made.options, made.make_buffer)
    who = name or (method if isinstance(method, str) else method.__name__)
    identity = Cell(stream.name, "-", who, Variant(memory, theta), size).identity
    records = [
        record_of(identity | {"seed": result.spec.seed}, result, stream, made.recorded)
        for result in results
    ]
    runs = [Run(identity | {"seed": record["seed"]}, record, None) for record in records]
    return Trained(who, runs, params.train.joint_bwt)


def summary(*trained: Trained) -> pd.DataFrame:
    """Mean, standard deviation and 95 % interval over seeds, one row per method and scenario.

    A SHARC row also has its gain over the same method without, paired by seed, if that is given.
    """
    return summarise(_joined(trained))[list(SHOWN)]


def _joined(trained: Sequence[Trained]) -> pd.DataFrame:
    if not trained:
        raise UserError("there is nothing to compare: pass what `train` returned.")
    called = Counter(tuple(one.runs[0].identity.values()) for one in trained)
    if again := [cell[2] for cell, times in called.items() if times > 1]:
        raise UserError(f"{again[0]!r} appears twice: tell them apart with `train(..., name=...)`.")
    return pd.concat([one.frame for one in trained], ignore_index=True)


def _check(memory: str | None, theta: float | None, seeds: Sequence[int]) -> None:
    if (memory is None) != (theta is None):
        raise UserError("SHARC needs both `memory` and `theta`; without it, give neither.")
    if theta is not None and not 0 <= theta <= 1:
        raise UserError(f"theta is {theta}: it must be a share of channels, from 0 to 1.")
    if len(seeds) == 0 or len(set(seeds)) < len(seeds):
        raise UserError(f"seeds are {list(seeds)}: give at least one, and each only once.")


def _made(
    method: str | type[Strategy], memory: str | None, params: Params, options: dict[str, Any]
) -> Method:
    """What the pipeline would train with; your own class has the options all methods share."""
    if memory is not None:
        pick("memory", memory)  # a wrong name ends here
    if isinstance(method, str):
        pick("method", method)
        recorded = train_settings(params, method, memory or DENSE, [])["options"]
        recorded["method"] |= options
        named: Method = make_method(method, memory or DENSE, recorded, params.train.device)
        return named
    like = "sgd" if method.replays == "none" else "er"
    recorded = train_settings(params, like, memory or DENSE, [])["options"] | {"method": options}
    made: Method = make_method(like, memory or DENSE, recorded, params.train.device)
    return replace(made, strategy=method)
