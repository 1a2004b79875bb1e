"""Build step: the wheel carries the project's own files, so that `sharc init` can hand them out.

They stay in one place, at the top of the repository; `[tool.sharc]` in pyproject.toml names them.
"""

import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


class BuildWithProject(build_py):
    """Copies the project's files into the package as `sharc/project/`."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # then `sharc init` reads them where they are
            for path in project_files():
                target = Path(self.build_lib, "sharc", "project", path)
                self.mkpath(str(target.parent))
                self.copy_file(str(ROOT / path), str(target))


def project_files() -> list[Path]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["sharc"]["project"]
    return sorted({path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern)})


setup(cmdclass={"build_py": BuildWithProject})
