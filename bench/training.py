"""Head training: a plain PyTorch loop, a framework's step, Avalanche, and the stacked engine."""

from dataclasses import replace
from functools import partial
from typing import Any

from torch.profiler import ProfilerActivity, profile

from bench.avalanche import ABSENT, Avalanche
from bench.framework_loop import train_framework
from bench.section import Section, Size, Table
from bench.streams import CIFAR10, CIFAR100, Shape, steps, synthetic
from bench.timing import Measure, Times, Way, interleaved, number, ratio
from sharc.buffers.dense import DenseBuffer
from sharc.engine.device import one_thread
from sharc.engine.runs import RunSpec
from sharc.engine.task_stream import TaskStream
from sharc.registry import load
from sharc.textbook import sharc as textbook
from sharc.trainer.heads import suited
from sharc.trainer.train import train

BUFFER, SEEDS = 200, 5
BUFFERS = (200, 500, 1000)  # a step that draws has one shape for all: the pipeline stacks them
DRAWN = ("er", "mer", "agem", "derpp", "clser")
LABELS = {
    "sgd": "SGD", "joint": "JOINT", "er": "ER, 10 replayed", "er_full": "ER, whole memory",
    "mer": "MER", "gem": "GEM", "agem": "A-GEM", "derpp": "DER++", "clser": "CLS-ER",
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {"er": {"replay": "sampled"}, "er_full": {"replay": "full"}}
GUARDED = ("er", "er_full", "mer", "gem", "agem", "derpp", "clser")
PLAIN = {"er": "er_sampled", "er_full": "er"}  # the textbook's names
BY_LOSS = ("sgd", "er", "agem", "derpp")
PRODUCTS = ("aten::bmm", "aten::addmm")
ENGINE_TASK = 125  # steps at least where engines are compared: each task begins with work


def ours(
    method: str, stream: TaskStream, seeds: int = SEEDS, buffer: int = BUFFER, *more: int,
    by_loss: bool = False,
) -> None:  # fmt: skip
    """Train all seeds with our engine, with one buffer or more."""
    strategy = load("method", method.partition("_")[0])
    strategy = suited(strategy, "mlp") if by_loss else strategy
    runs = [RunSpec(seed, size) for size in (buffer, *more) for seed in range(seeds)]
    options = {"device": "cpu"} | OPTIONS.get(method, {})
    train(stream, runs, strategy, options, DenseBuffer)


def plain(method: str, stream: TaskStream) -> None:
    """Train one seed as the textbook does."""
    known = load("method", method.partition("_")[0]).complete({}).model_dump()
    if method == "joint":
        textbook.train_jointly(stream, 0, known)
    else:
        textbook.train(PLAIN.get(method, method), stream, 0, BUFFER, known)


def run(size: Size) -> Section:
    """Both numbers of classes."""
    section = Section("head", "Head training")
    avalanche = Avalanche(wanted=size.name != "small")
    try:
        with one_thread():
            for shape in (shape for shape in (CIFAR10, CIFAR100) if shape.classes in size.shares):
                _compare(section, shape, size, avalanche)
            if size.name != "small":
                _by_loss(section, size)
    finally:
        avalanche.close()
    if size.name != "small":
        section.notes.append(_said(avalanche))
    return section


def _said(avalanche: Avalanche) -> str:
    return (
        f"Avalanche {avalanche.version} in a process of its own, one thread like the others, on "
        "the same steps, at least 125 per task; what an engine does once per task (loaders, draws, "
        "its buffer) is in its time. Its A-GEM draws one example of each task at least, so 20 at "
        "100 classes, ours 10. “A framework's step” is ER written for this comparison in the shape "
        "of Mammoth's. MER's plain loop computes both of its averages, as the paper writes them, "
        "though at rate one they change nothing."
        if avalanche.version
        else ABSENT
    )


def _compare(section: Section, shape: Shape, size: Size, avalanche: Avalanche) -> None:
    stream = synthetic(shape, size.shares[shape.classes])
    # With 100 classes the engine stacks five runs at a time, however many it is given.
    stackable = shape.classes == CIFAR10.classes
    ways: dict[str, Way] = {}
    for method in GUARDED if size.name == "small" else LABELS:
        ways[f"plain {method}"] = partial(plain, method, stream)
        ways[f"ours {method}"] = partial(ours, method, stream)
        if method in DRAWN and stackable:
            ways[f"stacked {method}"] = partial(ours, method, stream, SEEDS, *BUFFERS)
    share = _engine_share(shape, size)
    ways |= _steps_only(bare(synthetic(shape, share)), stackable)
    if avalanche.version:
        for method in ("er", "agem"):
            ways[f"avalanche {method}"] = partial(avalanche.seconds, method, shape.classes, share)
    times = interleaved(ways, size.rounds, warm_up=size.name == "small")
    section.tables.append(_methods(section, times, shape, size))
    section.tables.append(_engines(section, times, shape, size))


def _by_loss(section: Section, size: Size) -> None:
    """Methods as losses, for as long as a real run lasts: each is recorded once, in a tenth of a
    second.
    """
    whole, part = synthetic(CIFAR10), synthetic(CIFAR10, 0.2)
    ways: dict[str, Way] = {}
    for method in BY_LOSS:
        ways[f"plain {method}"] = partial(plain, method, whole)
        ways[f"loss {method}"] = partial(ours, method, whole, by_loss=True)
    times, n = interleaved(ways, size.rounds), steps(CIFAR10, 1.0)
    table = Table("Strategies by loss, 10 classes, 5 seeds stacked", ["method",
                  "plain loop, µs per step", "by loss, µs per step and run",
                  "by loss is × faster"])  # fmt: skip
    for method in BY_LOSS:
        slow, fast = times[f"plain {method}"], times[f"loss {method}"]
        gain = section.measures[f"{method}_vs_plain_by_loss_10"] = ratio(slow, fast, SEEDS)
        spent = slow.per(n), fast.per(n * SEEDS)
        table.add(LABELS[method], *(number(s.median) for s in spent), gain)
    table.note = _where(partial(ours, "er", part, by_loss=True), steps(CIFAR10, 0.2))
    section.tables.append(table)


def _where(train_er: Way, n: int) -> str:
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        train_er()
    calls = [call for call in seen.key_averages() if call.key.startswith("aten::")]
    others = [call for call in calls if call.key not in PRODUCTS]
    whole, rest = (sum(call.self_cpu_time_total for call in some) for some in (calls, others))
    count = sum(call.count for call in others)
    return (
        f"Where ER by loss spends the time of torch's operators: {1 - rest / whole:.0%} in matrix"
        f" products, the rest in {count / n:.0f} calls per step of {rest / count:.2g} µs each."
    )


def _engine_share(shape: Shape, size: Size) -> float:
    """Of a real run's steps: so many at least that a task's own cost is spread as in such a run."""
    task = shape.train // shape.tasks // 10
    return max(size.shares[shape.classes], min(1.0, ENGINE_TASK / task))


def _steps_only(stream: TaskStream, stackable: bool) -> dict[str, Way]:
    """Engines are compared by their steps."""
    ways: dict[str, Way] = {f"steps er {seeds}": partial(ours, "er", stream, seeds)
                            for seeds in ((1, 5, 25) if stackable else (1, 5))}  # fmt: skip
    if stackable:
        ways |= {f"steps {method} 15": partial(ours, method, stream, SEEDS, *BUFFERS)
                 for method in ("er", "agem")}  # fmt: skip
    return ways | {
        "steps agem 5": partial(ours, "agem", stream, 5),
        "bare er": partial(plain, "er", stream),
        "framework er": partial(train_framework, stream, 0, BUFFER),
    }


def bare(stream: TaskStream) -> TaskStream:
    """The same stream with next to nothing to evaluate."""
    return replace(stream, test_tasks=[task[:10] for task in stream.test_tasks])


def _methods(section: Section, times: dict[str, Times], shape: Shape, size: Size) -> Table:
    table = Table(
        f"Eight strategies, {shape.classes} classes, by the runs stacked",
        ["method", "runs stacked", "plain loop, µs per step", "ours, µs per step and run",
         "ours is × faster", "runs per minute and core"],
    )  # fmt: skip
    n = steps(shape, size.shares[shape.classes])
    whole = steps(shape, 1.0) / n  # a real run's steps for each of these
    stacks = {"ours": (SEEDS, f"{SEEDS} seeds", ""),
              "stacked": (SEEDS * len(BUFFERS), f"{SEEDS} seeds × {len(BUFFERS)} buffers",
                          "_stacked")}  # fmt: skip
    for method, label in LABELS.items():
        for way, (runs, named, suffix) in stacks.items():
            if f"{way} {method}" not in times:
                continue
            slow, fast = times[f"plain {method}"], times[f"{way} {method}"]
            gain = ratio(slow, fast, runs)
            minutes = Measure.of([60 * runs / (spent * whole) for spent in fast.cpu])
            spent = slow.per(n), fast.per(n * runs)
            table.add(label, named, *(number(s.median) for s in spent), gain,
                      number(minutes.median))  # fmt: skip
            section.measures[f"{method}_vs_plain{suffix}_{shape.classes}"] = gain
            section.measures[f"{method}_runs_per_minute{suffix}_{shape.classes}"] = minutes
    return table


def _engines(section: Section, times: dict[str, Times], shape: Shape, size: Size) -> Table:
    """ER by every engine, and A-GEM by Avalanche, all on the same steps."""
    table = Table(
        f"Engines, {shape.classes} classes, steps alone",
        ["engine", "µs per step and run", "ours, 5 seeds, is × faster"],
    )
    n = steps(shape, _engine_share(shape, size))
    engines = {
        "plain PyTorch loop, ER": ("bare er", n),
        "a framework's step, ER": ("framework er", n),
        "Avalanche, ER": ("avalanche er", n),
        "Avalanche, A-GEM": ("avalanche agem", n),
        "ours, 1 seed, ER": ("steps er 1", n),
        "ours, 5 seeds, ER": ("steps er 5", 5 * n),
        "ours, 25 seeds, ER": ("steps er 25", 25 * n),
        "ours, 5 seeds, A-GEM": ("steps agem 5", 5 * n),
        "ours, 5 seeds × 3 buffers, ER": ("steps er 15", 15 * n),
        "ours, 5 seeds × 3 buffers, A-GEM": ("steps agem 15", 15 * n),
    }
    for name, (key, done) in engines.items():
        if key not in times:
            continue
        kind, method = key.split()[:2]
        ahead = ratio(times[key], times[f"steps {method} 5"], SEEDS * n / done)
        table.add(name, times[key].per(done), ahead)
        if kind in ("framework", "avalanche"):
            section.measures[f"{method}_vs_{kind}_{shape.classes}"] = ahead
            if wide := times.get(f"steps {method} 15"):
                stacked = ratio(times[key], wide, 15 * n / done)
                section.measures[f"{method}_vs_{kind}_stacked_{shape.classes}"] = stacked
    return table
