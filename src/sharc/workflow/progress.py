"""One line of progress, from Snakemake's output."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from sharc.workflow.estimate import spoken

_STARTED = re.compile(r"^Job \d+: (\w+) ([^:]+):")
_DONE = re.compile(r"^Finished jobid: \d+ \(Rule: (\w+)\)")
_SHARE = re.compile(r"(\d+)%\|")  # tqdm's, of a stage that takes long
_ENOUGH = 0.2  # of the work done, beyond which its pace alone is trusted
_BAR = 20


@dataclass
class Progress:
    """What is done of a build of `jobs` per stage; `seconds` is what one job of a stage takes.

    `expected` is the estimate for the whole, in seconds; None if there is none.
    """

    jobs: Mapping[str, int]
    seconds: Mapping[str, float]
    expected: float | None
    began: float = field(default_factory=time.monotonic)
    running: dict[str, str] = field(default_factory=dict)
    done: float = 0.0
    finished: int = 0
    share: int | None = None

    def read(self, line: str) -> None:
        """Take in one line of Snakemake's output."""
        if found := _STARTED.match(line):
            self.running[found[1]] = found[2]
        elif (found := _DONE.match(line)) and found[1] in self.jobs:  # not the rule `all`
            self.finished += 1
            self.done += self._weight(found[1])
            self.running.pop(found[1], None)
            self.share = None
        elif shares := _SHARE.findall(line):
            self.share = int(shares[-1])

    def line(self, now: float | None = None) -> str:
        """`[#####     ] 12 of 36 jobs, 0:41, about 50 seconds left: train digits/...`."""
        elapsed = (time.monotonic() if now is None else now) - self.began
        filled = round(_BAR * min(1.0, self.fraction))
        bar = "#" * filled + " " * (_BAR - filled)
        minutes, seconds = divmod(int(elapsed), 60)
        left = self.left(elapsed)
        said = "" if left is None else f", about {spoken(left)} left"
        stage, name = next(reversed(self.running.items()), ("", ""))
        part = f" {self.share} %" if self.share is not None else ""
        now_running = f": {stage} {name}{part}" if stage else ""
        count = f"{self.finished} of {sum(self.jobs.values())} jobs"
        return f"[{bar}] {count}, {minutes}:{seconds:02}{said}{now_running}"

    @property
    def fraction(self) -> float:
        """The share of the work that is done."""
        total = sum(count * self._weight(stage) for stage, count in self.jobs.items())
        return self.done / total if total else 0.0

    def left(self, elapsed: float) -> float | None:
        """Seconds to the end: at first by the estimate, then increasingly by the pace of this
        build."""
        done = self.fraction
        if self.expected is None and not done:
            return None
        by_pace = max(0.0, elapsed / done - elapsed) if done else 0.0
        if self.expected is None:
            return by_pace
        trust = min(1.0, done / _ENOUGH)
        by_estimate = max(self.expected - elapsed, self.expected * (1 - done) / 4)
        return trust * by_pace + (1 - trust) * by_estimate

    def _weight(self, stage: str) -> float:
        return self.seconds.get(stage, 1.0)
