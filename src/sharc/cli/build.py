"""`sharc build`: Snakemake with one line of live progress, or a line a minute into a file."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from itertools import dropwhile
from pathlib import Path

from sharc.config import load_params
from sharc.errors import UserError
from sharc.pipeline import build_graph
from sharc.workflow.estimate import estimate, weights
from sharc.workflow.freshness import states
from sharc.workflow.progress import Progress

LOG = Path("outputs/logs/build.log")
_FAILED = re.compile(r"\d+ runs? failed:$")  # said last, where nothing else went wrong
_SHOWN = 25  # lines of any other failed build
_EVERY, _EVERY_IN_FILE = 0.5, 60.0  # seconds between two updates of the line


def build(suite: str | None, cores: int | None, targets: list[str]) -> None:
    """Print what will be built and how long it takes, build it, and print where it is."""
    params = load_params(suite=suite)
    graph, cores = build_graph(params), cores or os.cpu_count() or 1
    found = states(graph)
    to_run = Counter(job.stage for name, job in graph.jobs.items() if not found[name].current)
    expected = estimate(graph, found, cores)
    takes = f"; {expected.text()}" if expected else ""
    jobs = f"{sum(to_run.values())} of {len(found)} jobs to run" if to_run else "nothing to run"
    print(f"Suite {params.suite}: {jobs}{takes}.", flush=True)
    progress = Progress(to_run, weights(graph), expected.seconds if expected else None)
    command = ["snakemake", "--cores", str(cores), *(targets or ["all"])]
    code = _watched([*command, *(["--config", f"suite={suite}"] if suite else [])], progress)
    if code:
        lines = LOG.read_text(encoding="utf-8", errors="replace").splitlines()
        last = list(dropwhile(lambda line: not _FAILED.match(line), lines)) or lines[-_SHOWN:]
        raise UserError("\n".join([*last, f"\nThe build failed; its full output is in {LOG}."]))
    print("Done: open outputs/report.html")


def _watched(command: list[str], progress: Progress) -> int:
    """Run a command with its output in the log and its progress on stdout."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"SHARC_PROGRESS": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
        text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    reader = threading.Thread(target=_read, args=(process, progress), daemon=True)
    reader.start()
    watched = sys.stdout.isatty()
    start, end, every = ("\r\033[K", "", _EVERY) if watched else ("", "\n", _EVERY_IN_FILE)
    try:
        while reader.is_alive():
            reader.join(every)
            if reader.is_alive():
                print(f"{start}{_cut(progress.line())}", end=end, flush=True)
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise UserError("Stopped. Finished files are kept; build again to continue.") from None
    finally:
        if watched:
            print("\r\033[K", end="", flush=True)
    return process.wait()


def _read(process: "subprocess.Popen[str]", progress: Progress) -> None:
    with LOG.open("w", encoding="utf-8", buffering=1) as log:
        for line in process.stdout or ():  # universal newlines: tqdm's \r ends a line too
            log.write(line)
            progress.read(line)


def _cut(line: str) -> str:
    return line[: shutil.get_terminal_size().columns - 1]
