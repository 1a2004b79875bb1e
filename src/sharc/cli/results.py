"""More commands: `sharc build`, `sharc compare` and `sharc import`."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the commands to `sharc`."""
    app.command("build")(build)
    app.command("compare")(compare)
    app.command("import")(import_log)


def build(
    targets: Annotated[
        list[str] | None, typer.Argument(help="Files or folders to build; all by default.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="Build this suite instead of params.yaml's.")
    ] = None,
    cores: Annotated[int | None, typer.Option(help="All of the machine's by default.")] = None,
) -> None:
    """Build a suite with Snakemake, showing one line of progress and the time left."""
    from sharc.cli.build import build as run

    run(suite, cores, targets or [])


def compare(
    a: Annotated[
        str,
        typer.Argument(help="A folder, a suite under results/, a commit[:folder], an experiment."),
    ],
    b: Annotated[str, typer.Argument(help="The same; `outputs/results` is the latest build.")],
    suite: Annotated[
        str | None, typer.Option(help="The export that a commit stands for: results/SUITE.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write compare.csv and the figure to this folder.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every cell that moved.")] = False,
) -> None:
    """Show which cells moved from A to B, by how much, and which of that is decided."""
    from sharc.cli.compare import compare_results

    compare_results(a, b, suite, out, everything)


def import_log(  # noqa: PLR0913, PLR0917 - one option per column of the CSV file
    library: Annotated[str, typer.Argument(help="mammoth or avalanche.")],
    log: Annotated[Path, typer.Argument(help="logs.pyd, eval_results.csv, or a folder of them.")],
    out: Annotated[Path, typer.Argument(help="The CSV file to write or to add to.")],
    method: Annotated[str | None, typer.Option(help="Such as er, or er+ with SHARC.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Such as cifar10.")] = None,
    buffer: Annotated[int | None, typer.Option(help="Size of the buffer; 0 for none.")] = None,
    seed: Annotated[int | None, typer.Option(help="The run's seed.")] = None,
    scenario: Annotated[str | None, typer.Option(help="task_il or class_il.")] = None,
) -> None:
    """Turn the logs of Mammoth or Avalanche into a CSV file that params.yaml can name."""
    from sharc.cli.importing import import_log as run

    run(
        library,
        log,
        out,
        method=method,
        dataset=dataset,
        buffer=buffer,
        seed=seed,
        scenario=scenario,
    )
