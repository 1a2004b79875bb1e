"""Random histories of what people do to a project: whatever came before, a build ends the same.

    SHARC_HISTORIES=300 SHARC_HISTORY_SEED=1 pytest tests/workflow/test_histories.py

After each step `snakemake all` builds nothing but the stages that the step gave a reason to build,
and no job twice; it ends with the bytes of a clean build of the same sources and parameters; then
neither tool has work left.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from forks import Forks
from history import History
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from tiny import Clean, tiny

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="forks.py uses pidfd and /proc"),
]
COUNT = int(os.environ.get("SHARC_HISTORIES", "12"))
SEED = int(os.environ.get("SHARC_HISTORY_SEED", "20"))
LOG = Path(os.environ.get("SHARC_HISTORY_LOG", os.devnull))  # a line per history, for long runs
STEPS = 4


@pytest.fixture
def forks(tmp_path: Path) -> Iterator[Forks]:
    server = Forks(tmp_path / "forks")
    yield server
    server.close()


def test_whatever_happened_before_a_build_ends_with_what_a_clean_build_gives(
    tmp_path: Path, forks: Forks
):
    start = tiny(tmp_path / "start")
    start.snakemake()  # this one in processes of its own: what the forks make is compared with it
    start.commit("built")
    clean, numbers = Clean(start, forks, tmp_path / "clean"), iter(range(10**9))

    class Histories(History):
        def __init__(self) -> None:
            super().__init__(start, forks, tmp_path / f"history{next(numbers)}", clean)

        def teardown(self) -> None:
            super().teardown()
            with LOG.open("a") as log:  # also of a history that failed: the run ends with it
                print(f"seed {SEED}: {self.checked} steps", file=log)

    run_state_machine_as_test(
        seed(SEED)(Histories),
        settings=settings(
            max_examples=COUNT,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
