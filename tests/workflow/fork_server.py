"""A process that has imported what Snakemake, DVC and the jobs need, and forks for each command.

    python tests/workflow/fork_server.py SOCKET

A fork is a process with the arguments, folder, environment, output and process group of whoever
asked (see forks.py). Nothing of `sharc` is imported before a fork, so each command sees its modules
as they are then.
"""

import _imp
import atexit
import gc
import hashlib
import importlib
import json
import marshal
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # a process with several threads may not be forked
LIBRARIES = (
    *("snakemake.cli", "snakemake.workflow", "snakemake.dag", "snakemake.executors.local"),
    *("snakemake.report", "snakemake.sourcecache", "snakemake.logging", "snakemake.scheduling"),
    *("dvc.cli.parser", "dvc.repo", "dvc.stage", "dvc.output", "dvc.scm", "dvc.schema"),
    *("dvc.repo.experiments.queue.workspace", "dvc.repo.experiments.executor.local"),
    *("dvc.repo.experiments.executor.base", "dvc.dvcfile", "dvc.ignore", "dvc_data.index"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_pdf"),
    *("matplotlib.backends.backend_svg", "pandas", "pyarrow", "scipy.stats", "scipy.special"),
    *("torch", "safetensors.torch", "safetensors.numpy", "pydantic", "grimp", "jinja2", "yaml"),
    *("PIL.Image", "PIL.PngImagePlugin", "rich.progress", "typer", "filelock", "psutil"),
)
_BIN = Path(sys.executable).parent


class Server:
    """Forks when asked, and tells whoever asked how the fork ended."""

    def __init__(self, path: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(64)
        self._events = selectors.DefaultSelector()
        self._events.register(self._listener, selectors.EVENT_READ)
        self._running: dict[int, tuple[int, socket.socket]] = {}  # pid: its pidfd, who asked

    def serve(self) -> None:
        """Until asked to end."""
        while True:
            for key, _ in self._events.select():
                if key.fileobj is self._listener:
                    self._start(self._listener.accept()[0])
                elif isinstance(key.fileobj, socket.socket):
                    _kill(key.data)  # whoever asked was killed
                    self._events.unregister(key.fileobj)
                else:
                    self._end(key.data)

    def end(self, *_: Any) -> None:
        """Leave no fork behind."""
        for pid in self._running:
            _kill(pid)
        os._exit(0)

    def _start(self, asking: socket.socket) -> None:
        head, output, _, _ = socket.recv_fds(asking, 4, 3)
        request = b""
        while part := asking.recv(int.from_bytes(head, "big") - len(request)):
            request += part
        if len(head) < 4 or len(request) < int.from_bytes(head, "big"):
            asking.close()  # killed while it asked
        elif pid := os.fork():
            watch = os.pidfd_open(pid)
            self._running[pid] = watch, asking
            self._events.register(watch, selectors.EVENT_READ, pid)
            self._events.register(asking, selectors.EVENT_READ, pid)
        else:
            _become(output, *json.loads(request))
        for number in output:
            os.close(number)

    def _end(self, pid: int) -> None:
        watch, asking = self._running.pop(pid)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._events.unregister(watch)
        os.close(watch)
        with suppress(KeyError, OSError):
            self._events.unregister(asking)
            asking.sendall(str(code).encode())
        asking.close()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _become(output: list[int], pid: int, words: list[str], cwd: str, env: dict[str, str]) -> None:
    """Be the process that was asked for, to its end."""
    code: Any = 70
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, os.getpgid(pid))
        for at, number in enumerate(output):
            os.dup2(number, at)
        os.closerange(3, 4096)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        _show_parents(pid, Path(words[0]).name)
        code = _run(words, cwd)
    finally:
        os._exit(code)


def _show_parents(pid: int, name: str) -> None:
    """Above this process, psutil finds whoever asked; `sharc.entry.dvc` looks for DVC there."""
    import psutil

    Path("/proc/self/comm").write_text(name)
    me, ppid = os.getpid(), psutil.Process.ppid
    psutil.Process.ppid = lambda self: pid if self.pid == me else ppid(self)


def _compile_once(folder: Path) -> None:
    """Keep byte code by the source's content: one history's modules are compiled for all."""
    compiled = SourceFileLoader.source_to_code

    def source_to_code(self: SourceFileLoader, data: bytes, path: str, **options: Any) -> CodeType:
        note = folder / hashlib.sha256(data).hexdigest()
        with suppress(OSError, EOFError, ValueError):
            code: CodeType = marshal.loads(note.read_bytes())
            _imp._fix_co_filename(code, path)
            return code
        code = compiled(self, data, path, **options)
        partial = note.with_name(f"{note.name}.{os.getpid()}")
        partial.write_bytes(marshal.dumps(code))
        partial.replace(note)
        return code

    SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign,assignment]


def _run(words: list[str], cwd: str) -> int:
    """What the interpreter does with a module or a console script, to the exit code."""
    program = _BIN / Path(words[0]).name
    is_module = words[1:2] == ["-m"] and program.name == "python"
    sys.dont_write_bytecode = True
    path = os.environ.get("PYTHONPATH", "").split(":")
    sys.path[:] = [cwd if is_module else str(_BIN), *filter(None, path), *sys.path[1:]]
    sys.path_importer_cache.clear()
    sys.argv = words[2:] if is_module else [str(program), *words[1:]]
    code: Any = None
    try:
        if is_module:
            runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # as an interpreter ends: threads first, then what was registered
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0


def main(path: str) -> None:
    """Import, then serve."""
    for name in LIBRARIES:
        importlib.import_module(name)
    assert "sharc" not in sys.modules
    assert threading.active_count() == 1
    _compile_once(Path(path).parent / "compiled")
    gc.freeze()
    server = Server(path)
    signal.signal(signal.SIGTERM, server.end)
    print("ready", flush=True)
    server.serve()


if __name__ == "__main__":
    main(sys.argv[1])
