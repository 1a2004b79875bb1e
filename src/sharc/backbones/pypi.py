"""Source archives of the Python package index, fetched by pip without running their setup.py.

`pip download` asks a source archive's build backend for its metadata, which runs setup.py. So pip
is given a backend that answers with the name and version already known. The digest is checked by
pip before that, and again here.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sharc.artifacts.files import explained, sha256_of
from sharc.errors import UserError

_TIMEOUT_S = 1800
_BACKEND = """
from pathlib import Path

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = Path(folder) / "{module}-{version}.dist-info"
    info.mkdir(parents=True)
    text = "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n"
    (info / "METADATA").write_text(text)
    return info.name

class __legacy__:
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
"""


def pypi_archive(name: str, version: str, target: Path, sha256: str) -> Path:
    """The source archive of a package at `target`, fetched again if it is not the right one."""
    if target.is_file():
        if sha256_of(target) == sha256:
            return target
        target.unlink()
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            _download(name, version, sha256, Path(folder))
            found = next(Path(folder).glob("*.tar.gz"), None)
            if found is None or sha256_of(found) != sha256:
                raise UserError(f"pip gave no source archive of {name} with sha256 {sha256}")
            found.replace(target)
    return target


def _download(name: str, version: str, sha256: str, folder: Path) -> None:
    """Run `pip download` in its own folder, so that an interrupted one leaves nothing behind."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{name}=={version} --hash=sha256:{sha256}\n", encoding="utf-8")
    backend = folder / "backend" / "setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    (backend / "build_meta.py").write_text(
        _BACKEND.format(name=name, module=name.replace("-", "_"), version=version),
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", ":all:", "--no-build-isolation", "--use-pep517"]
    command += ["--require-hashes", "-r", str(wanted), "--dest", str(folder)]
    _run(command, f"{name}=={version}", os.environ | {"PYTHONPATH": str(backend.parent)})


def _run(command: list[str], package: str, environment: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"`pip download {package}` failed: {error}") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip()[-300:]
        raise UserError(f"`pip download {package}` failed with code {done.returncode}: {reason}")
