"""docs/tutorial.ipynb runs as committed: same text, same numbers, no warning."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from sharc.cli.project import init_project

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs/tutorial.ipynb"
BUILT = ("data/splits/digits.json", "outputs/features/digits/efficientnet_lite0/meta.json")
NUMBER = re.compile(r"-?\d+\.\d+")


def committed() -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOK, as_version=4)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def said(cell: nbformat.NotebookNode) -> str:
    """The text that a cell printed or returned."""
    parts = [
        out["text"] if out.output_type == "stream" else out["data"].get("text/plain", "")
        for out in cell.outputs
    ]
    return "\n".join(part for part in parts if not part.startswith("<Figure"))


def test_it_was_run_from_top_to_bottom_and_shows_pictures():
    notebook = committed()
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [out for cell in code_cells(notebook) for out in cell.outputs]
    assert {out.output_type for out in outputs} <= {"stream", "display_data", "execute_result"}
    assert sum("image/png" in out.get("data", {}) for out in outputs) >= 4
    assert len(notebook.cells) <= 36


def test_no_warning_was_committed():
    streams = [out for cell in code_cells(committed()) for out in cell.outputs if "name" in out]
    assert [out["text"] for out in streams if out["name"] == "stderr"] == []


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    from nbclient import NotebookClient

    client = NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}, timeout=300)
    return client.execute()


@pytest.fixture
def kernel_sees_this_code(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestWarning")
def test_it_runs_again_with_the_numbers_that_are_committed(tmp_path, kernel_sees_this_code):
    init_project(tmp_path / "project")
    subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *BUILT],
        cwd=tmp_path / "project",
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    (tmp_path / "project/notebooks").mkdir()
    copy = tmp_path / "project/notebooks/tutorial.ipynb"
    shutil.copy(NOTEBOOK, copy)
    again = execute(nbformat.read(copy, as_version=4), copy.parent)
    for before, now in zip(code_cells(committed()), code_cells(again), strict=True):
        expected, found = (NUMBER.findall(said(one)) for one in (before, now))
        assert [float(x) for x in found] == pytest.approx([float(x) for x in expected], abs=5.0)
        assert NUMBER.sub("#", said(now)).split() == NUMBER.sub("#", said(before)).split()
        assert not [out for out in now.outputs if out.get("name") == "stderr"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestWarning")
def test_outside_a_project_its_first_cell_says_what_to_do(tmp_path, kernel_sees_this_code):
    from nbclient.exceptions import CellExecutionError

    notebook = committed()
    notebook.cells = code_cells(notebook)[:1]
    with pytest.raises(CellExecutionError, match="is not in a sharc project"):
        execute(notebook, tmp_path)
