"""Does a GPU give the committed numbers, and how fast is it: make gpu-check (docs/gpu.md).

It builds the suite `demo` on the GPU in a folder of its own, compares each cell with
results/demo, times head training on the GPU and on one core, and writes one file to send back.
The parameters are those of the last commit; nothing outside outputs/gpu-check is written.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
import yaml

from bench.agreement import Agreement, agreement
from bench.machine import ROOT
from bench.on_device import CELLS, Timing, measure
from bench.pipeline import provenance
from bench.section import SIZES, Size
from sharc.artifacts.files import write_json
from sharc.artifacts.provenance import git, surroundings
from sharc.cli.project import init_project
from sharc.compare.places import results_of
from sharc.engine.device import gpu
from sharc.errors import UserError
from sharc.results.folder import Results

SUITE, OUT = "demo", Path("outputs/gpu-check")
AT_ONCE = 4  # jobs that share the GPU: each takes some hundred MB of its memory for itself
REHEARSAL = Size("rehearsal", 1, 0.01, 0.0)  # in place of a GPU: there is nothing to time
ASKED = "--query-gpu=name,driver_version,memory.total"


def main(words: Sequence[str] | None = None) -> int:
    """The exit code: 0 if all agree, 1 if a cell does not, 2 if nothing could be compared."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_check", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda",
                        help="cpu rehearses the check without a GPU")  # fmt: skip
    parser.add_argument("--features", choices=("cuda", "cpu"),
                        help="cpu: computed there, so that training alone differs")  # fmt: skip
    asked = parser.parse_args(words)
    try:
        require(asked.device)
        return 0 if check(asked.device, asked.features or asked.device).holds else 1
    except UserError as error:
        print(error, file=sys.stderr)
        return 2


def require(device: str) -> None:
    """Refuse to go on without a GPU."""
    if device == "cpu" or gpu():
        return
    built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "built without CUDA"
    raise UserError(
        f"No GPU found: PyTorch {torch.__version__}, {built}, sees none.\n"
        f"nvidia-smi: {driver() or 'not installed'}.\n"
        "Run this on a machine with a GPU and NVIDIA's driver. If nvidia-smi lists the GPU, delete "
        ".venv and try again: on a machine without a driver, PyTorch is installed without CUDA.\n"
        "`make gpu-check DEVICE=cpu` rehearses the check on the CPU."
    )


def driver() -> str:
    """GPU, driver and memory as nvidia-smi lists them; empty if it is not installed."""
    if not shutil.which("nvidia-smi"):
        return ""
    words = ["nvidia-smi", ASKED, "--format=csv,noheader"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout or done.stderr).strip()


def check(device: str, features: str) -> Agreement:
    """Build, compare, measure, write."""
    project = OUT / "project"
    print(f"1 of 3: the suite {SUITE} is built in {project}.", flush=True)
    prepare(project, train=device, features=features)
    start = time.perf_counter()
    build(project)
    seconds = time.perf_counter() - start
    print(f"2 of 3: compared with the committed results/{SUITE}.", flush=True)
    with results_of(git("rev-parse", "HEAD") or SUITE, SUITE) as committed:
        found = agreement(committed, Results(project / "outputs/results"))
    print(found, flush=True)
    print("3 of 3: heads are trained on the device and on one core.", flush=True)
    timings = []
    for cell in CELLS:
        timings.append(measure(cell, device, REHEARSAL if device == "cpu" else SIZES["bench"]))
        print(f"  {timings[-1]}", flush=True)
    file = OUT / "gpu-check.json"
    built = {"features_on": features, "train_on": device, **cost(project, seconds)}
    write_json(file, report(device, found, timings) | {"build": built})
    print(f"Written: {file}. Please attach it to an issue of this project, whatever it says.")
    return found


def prepare(project: Path, **devices: str) -> None:
    """A new project with the last commit's parameters, and the device of each block."""
    shutil.rmtree(project, ignore_errors=True)  # changing the device alone rebuilds nothing
    init_project(project)
    params = yaml.safe_load(git("show", "HEAD:params.yaml") or Path("params.yaml").read_text())
    for block, device in devices.items():
        params[block]["device"] = device
    (project / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False))


def build(project: Path) -> None:
    """As a user would."""
    cores = str(min(AT_ONCE, os.cpu_count() or 1))
    words = [sys.executable, "-m", "sharc", "build", "--suite", SUITE, "--cores", cores]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    if subprocess.run(words, cwd=project, env=environment, check=False).returncode:
        raise UserError(f"The suite {SUITE} was not built, so there is nothing to compare.")


def cost(project: Path, seconds: float) -> dict[str, Any]:
    """How long the build took, and the jobs of each stage together."""
    stages: Counter[str] = Counter()
    for made in provenance(project):
        stages[made["job"].partition(":")[0]] += made["wall_seconds"]
    return {
        "seconds": round(seconds, 1),
        "job_seconds": {k: round(v, 1) for k, v in stages.items()},
    }


def report(device: str, found: Agreement, timings: Sequence[Timing]) -> dict[str, Any]:
    """What is sent back."""
    here = surroundings(threads=1)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **here,
        "device": here["device"] if device == "cuda" else device,
        "driver": driver(),
        "cuda": torch.version.cuda,
        "tf32": os.environ.get("NVIDIA_TF32_OVERRIDE", "default"),
        "system": platform.platform(),
        "committed": f"results/{SUITE}",
        "agreement": found.json(),
        "training": [timing.json() for timing in timings],
    }


if __name__ == "__main__":
    sys.exit(main())
