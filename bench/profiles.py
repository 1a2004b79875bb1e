"""Where our own time goes, for whatever did not reach its target or its aim: py-spy, by line."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.machine import EXTRAS, ROOT, environment

SPY = EXTRAS / "py-spy"
ABSENT = f"no profile: {SPY.relative_to(ROOT)} is missing; `make bench` installs it"
RATE, SHOWN, LEADING = 400, 16, 4
# Which work shows where a measure's time goes; several measures may share one.
WORK_OF = {
    r"(\w+)_vs_plain_stacked_(\d+)": r"training \1 \2 15",
    r"(\w+)_vs_plain_(\d+)": r"training \1 \2 5",
    r"(\w+)_vs_(?:avalanche|framework)_stacked_(\d+)": r"steps \1 \2 15",
    r"(\w+)_vs_(?:avalanche|framework)_(\d+)": r"steps \1 \2 5",
    r"sharc_cost_(er|er_full)_(modern_hopfield|bayes_pcn)_(\d+)_(\d+)": r"sharc \1 \2 \3 \4",
    r"growth_(\w+)": r"growth \1",
    r"450_sampled_runs_minutes": "draws",
    r"(?:300_dense|540)_runs_minutes": "whole",
    r"offline_minutes": "offline",
    r"bayes_pcn_\w*same_ten": "recall 10",
    r"bayes_pcn_(?:\w*per_map|all\w*|peak_gb)": "recall 1000",
    r"features_\w+?_(efficientnet_lite0|resnet18)": r"features \1",
}


@dataclass(frozen=True)
class Profile:
    """A file of lines by their share of the time, and the functions that lead it."""

    path: Path
    leading: str


def work_of(measure: str) -> str | None:
    """What to profile for a measure."""
    for pattern, work in WORK_OF.items():
        if found := re.fullmatch(pattern, measure):
            return found.expand(work)
    return None


def write(measures: Sequence[str], folder: Path) -> dict[str, Profile]:
    """A profile for each measure that has one, taken now."""
    wanted = {measure: work for measure in measures if (work := work_of(measure))}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    works = dict.fromkeys(wanted.values())
    paths = {work: folder / f"{work.replace(' ', '_')}.txt" for work in works}
    networks = [work for work in works if work.startswith("features ")]
    texts = {work: _network(work) for work in networks}  # torch's export bears no second thread
    watched = [work for work in works if work not in texts]
    with ThreadPoolExecutor(2) as pool:
        texts |= zip(watched, pool.map(_watched, watched), strict=True)
    for work, text in texts.items():
        paths[work].write_text(text)
    return {measure: read(paths[work]) for measure, work in wanted.items()}


def read(path: Path) -> Profile:
    """The second line of a profile names its leading functions."""
    return Profile(path, path.read_text().splitlines()[1])


def _network(work: str) -> str:
    from bench.operators import by_operator

    return by_operator(work.partition(" ")[2])


def _watched(work: str) -> str:
    if not SPY.is_file():
        return f"{work}\n{ABSENT}\n"
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.txt"
        command = [str(SPY), "record", "--format", "raw", "--rate", str(RATE), "--output", str(raw)]
        done = subprocess.run(
            [*command, "--", sys.executable, "-m", "bench.work", *work.split()],
            cwd=ROOT, env=environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            return f"{work}\nno profile: py-spy ended with {done.stderr.strip()[-200:]!r}\n"
        return by_line(work, raw.read_text())


def by_line(work: str, raw: str) -> str:
    """Samples by our own line: time inside torch counts for the line that called it."""
    lines_of: Counter[tuple[str, str, int]] = Counter()
    for stack in raw.splitlines():
        frames, _, count = stack.rpartition(" ")
        below = frames.partition("measured (")[2]
        found = re.findall(r"([^;]+?) \(((?:sharc|bench)/[\w/]+\.py):(\d+)\)", below)
        if found:
            function, file, line = found[-1]
            lines_of[function, file, int(line)] += int(count)
    whole = sum(lines_of.values())
    if not whole:
        return f"{work}\nno profile: py-spy took no sample of it\n"
    functions: Counter[str] = Counter()
    for (function, _, _), samples in lines_of.items():
        functions[function] += samples
    leading = ", ".join(f"`{f}` {100 * n / whole:.0f} %" for f, n in functions.most_common(LEADING))
    lines = [
        f"{100 * count / whole:5.1f} %  {file}:{line} {function}\n         {_source(file, line)}"
        for (function, file, line), count in lines_of.most_common(SHOWN)
    ]
    return "\n".join([f"{work}: {whole:,} samples by py-spy", leading, "", *lines, ""])


def _source(file: str, line: int) -> str:
    path = ROOT / file if file.startswith("bench/") else ROOT / "src" / file
    return path.read_text().splitlines()[line - 1].strip()
