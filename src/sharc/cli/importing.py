"""`sharc import`: another library's logs as the CSV file that `external:` in params.yaml names."""

from collections.abc import Callable, Iterable
from pathlib import Path

from sharc.errors import UserError, unknown
from sharc.external import avalanche, mammoth
from sharc.external.table import Run, read_runs, write_runs

IMPORTERS: dict[str, Callable[..., Iterable[Run]]] = {
    "mammoth": mammoth.read,
    "avalanche": avalanche.read,
}


def import_log(library: str, log: Path, out: Path, **given: str | int | None) -> None:
    """Add a log's runs to `out`; runs that are already there are replaced."""
    if library not in IMPORTERS:
        raise UserError(unknown("library", library, IMPORTERS))
    runs = list(IMPORTERS[library](log, **given))
    twice = {run.key for run in runs if [other.key for other in runs].count(run.key) > 1}
    if twice:
        names = ", ".join(map(str, min(twice)))
        raise UserError(
            f"{log} holds several runs of {names}: import its runs one by one, each with --seed."
        )
    known = {run.key: run for run in (read_runs(out) if out.is_file() else [])}
    merged = known | {run.key: run for run in runs}
    write_runs(out, merged.values())
    added = len(merged) - len(known)
    print(f"{out}: {len(merged)} rows, {added} new, {len(runs) - added} replaced.")
    print(f"To show them in tables and report, add to params.yaml:  external: {{{library}: {out}}}")
