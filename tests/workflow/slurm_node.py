"""A Slurm cluster of one node on loopback: munged, slurmctld and slurmd as plain processes."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CONFIGURATION = Path("/etc/slurm/slurm.conf")  # fixed: Snakemake's plugin drops SLURM_CONF
_TEXT = """ClusterName=sharc
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=3600
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def install() -> None:
    """Debian's own packages; without root or without a package archive there is no cluster."""
    if all(shutil.which(name) for name in ("munged", "slurmctld", "slurmd", "sbatch")):
        return
    for words in (["update"], ["install", "-y", "--no-install-recommends", "slurm-wlm", "munge"]):
        done = subprocess.run(
            ["apt-get", *words],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        )
        if done.returncode:
            pytest.skip(f"apt-get {' '.join(words)}: {done.stderr.strip()[-300:]}")


@contextmanager
def slurm_node(folder: Path) -> Iterator[None]:
    """Start the three daemons, wait until the node is idle, and stop them again by their ids."""
    host = os.uname().nodename
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    before = CONFIGURATION.read_text() if CONFIGURATION.exists() else None
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.write_text(_TEXT.format(host=host, folder=folder, memory=memory))
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        daemons.append(_munged(folder))
        _wait_for((folder / "munge.socket").exists)
        daemons.append(_start(folder, "slurmctld", "-D", "-c"))
        daemons.append(_start(folder, "slurmd", "-D", "-N", host))
        _wait_for(lambda: "idle" in _ask("sinfo", "--noheader", "--format=%T"))
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(timeout=30)
        if before is None:
            CONFIGURATION.unlink()
        else:
            CONFIGURATION.write_text(before)


def _munged(folder: Path) -> subprocess.Popen[bytes]:
    files = {"key": "key-file", "socket": "socket", "pid": "pid-file", "seed": "seed-file"}
    words = [f"--{option}={folder}/munge.{name}" for name, option in files.items()]
    return _start(
        folder, "munged", "--foreground", "--force", f"--log-file={folder}/munge.log", *words
    )


def _start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    with (folder / f"{words[0]}.out").open("wb") as out:
        return subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT)


def _ask(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def _wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the Slurm node did not come up"
        time.sleep(0.1)
