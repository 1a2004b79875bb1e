"""Commands of Python as forks of one process, for tests that start hundreds of them.

A history starts Snakemake, DVC and their jobs dozens of times, and each spends one to three seconds
on imports. Here a command is a small program that hands everything it was given to
`fork_server.py` and ends as its fork ends. Both are in one process group, so that whoever kills a
build's group, or one process of it, strikes what he would have struck.
"""

import os
import subprocess
import sys
from pathlib import Path

from project import Project

_COMMANDS = ("python", "snakemake", "dvc", "sharc")
_SOCKET = "SHARC_FORKS"
_STAND_IN = f"""#!{sys.executable} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect(os.environ["{_SOCKET}"])
given = json.dumps([os.getpid(), sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(given).to_bytes(4, "big")], [0, 1, 2])
server.sendall(given)
code = int(server.recv(16) or -signal.SIGKILL)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


class Forks:
    """The server, and what a process must be given for its commands to be forks."""

    def __init__(self, folder: Path) -> None:
        commands, path = folder / "bin", folder / "socket"
        commands.mkdir(parents=True)
        (folder / "compiled").mkdir()
        for name in _COMMANDS:
            (commands / name).write_text(_STAND_IN)
            (commands / name).chmod(0o755)
        self._environment = {
            _SOCKET: str(path),
            "PATH": f"{commands}:{os.environ['PATH']}",
            "DVC_SITE_CACHE_DIR": str(folder / "dvc"),
        }
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fork_server.py")), str(path)],
            stdout=subprocess.PIPE,
        )
        assert self._server.stdout
        assert self._server.stdout.readline() == b"ready\n"

    def close(self) -> None:
        """End the server; with it ends every fork that still runs."""
        self._server.terminate()
        self._server.communicate(timeout=60)

    def project(self, folder: Path) -> Project:
        """A clone whose commands are forks."""
        return _Forking(folder, self._environment)


class _Forking(Project):
    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        super().__init__(folder)
        self._more = environment

    def environment(self) -> dict[str, str]:
        return super().environment() | self._more
