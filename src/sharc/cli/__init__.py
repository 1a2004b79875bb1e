"""The command `sharc`: check and plan a build, inspect its results, keep DVC in sync."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sharc.cli import results
from sharc.errors import UserError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="""Reproduce *Saliency-Guided Hidden Associative Replay*, table by table.

    The pipeline itself is run by `snakemake --cores 8 all` or `dvc repro`. This command looks at
    it from outside:

      sharc validate                     is params.yaml right?

      sharc grid                         what would be built, what is cached, and why

      sharc inspect outputs/runs/...     what is in an artifact

      sharc trace er task_il 200         where a number in a table comes from

      sharc compare demo outputs         which cells moved between two builds
    """,
)
Suite = Annotated[
    str | None, typer.Option(help="Look at this suite instead of the one in params.yaml.")
]


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="A new folder, or `.` for this one.")],
) -> None:
    """Create a project: Snakefile, params.yaml, dvc.yaml, profiles and the paper's numbers."""
    from sharc.cli.project import SHIPPED, init_project, source

    init_project(folder)
    if source() != SHIPPED:
        print(f"Copied params.yaml and own/ from {source()} as they are there.")
    print(
        f"{folder}/ is ready. Next:\n"
        f"  cd {folder}\n"
        "  sharc build                  the demo suite, to outputs/report.html\n"
        "To version results with Git and DVC, run `git init` there first."
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        import sharc

        print(f"sharc {sharc.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Options of `sharc` itself."""


@app.command()
def new(
    kind: Annotated[str, typer.Argument(help="method, memory, dataset or backbone.")],
    name: Annotated[str, typer.Argument(help="What params.yaml, paths and tables call it.")],
    images: Annotated[
        Path | None, typer.Argument(help="For a dataset: a folder of images; no class is written.")
    ] = None,
) -> None:
    """Create a method, memory, data set or backbone of your own, or add a folder of images."""
    from sharc.cli.new import new as start

    print(start(kind, name, images))


@app.command()
def validate(suite: Suite = None) -> None:
    """Check params.yaml and say what the chosen suite would build."""
    from sharc.cli.validate import validate_params

    validate_params(suite)


@app.command()
def grid(
    suite: Suite = None,
    all_jobs: Annotated[bool, typer.Option("--all", help="List cached jobs too.")] = False,
) -> None:
    """Show which jobs are cached, which would run, and why."""
    from sharc.cli.grid import show_grid

    show_grid(suite, all_jobs)


@app.command()
def inspect(
    path: Annotated[
        Path, typer.Argument(help="A run record, or a folder of raw data, features...")
    ],
    picture: Annotated[
        Path | None, typer.Option(help="Draw recalled maps next to the originals in this PNG.")
    ] = None,
) -> None:
    """Print what an artifact holds: shapes, counts, accuracy, ledger, digest, provenance."""
    from sharc.cli.inspect import inspect_artifact

    inspect_artifact(path, picture)


@app.command()
def trace(
    method: Annotated[str, typer.Argument(help="For example er, or er+ for its SHARC form.")],
    scenario: Annotated[str, typer.Argument(help="task_il or class_il.")],
    buffer: Annotated[int, typer.Argument(help="Buffer size; 0 for sgd and joint.")],
    dataset: Annotated[str | None, typer.Option(help="Default: the suite's first.")] = None,
    suite: Suite = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show options, sources and digests too.")
    ] = False,
) -> None:
    """Follow a cell of a table back to its runs, parameters, commit and data digest."""
    from sharc.cli.trace import trace_cell

    trace_cell(method, scenario, buffer, dataset, suite, everything)


@app.command()
def record() -> None:
    """Record in DVC what Snakemake built (a successful build does this itself)."""
    from sharc.entry import dvc
    from sharc.pipeline import load_graph

    dvc.record(load_graph())


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="The target; replaced if it exists.")],
    suite: Suite = None,
    only: Annotated[
        list[str] | None, typer.Option(help="A stage, such as `ladder`; repeatable.")
    ] = None,
) -> None:
    """Copy a finished suite's tables, figures, claims and summary, small enough for Git."""
    from sharc.cli.export import export_results

    export_results(folder, suite, only or [])


@app.command()
def archive(
    out: Annotated[Path, typer.Argument(help="The crate to write, a zip file.")],
    suite: Suite = None,
) -> None:
    """Pack a finished suite as a Workflow Run RO-Crate that another machine can continue from."""
    try:
        from sharc.archive.crate import write_crate
    except ModuleNotFoundError as error:
        if error.name != "rocrate":
            raise
        raise UserError(
            "sharc archive needs the package rocrate: pip install 'sharc[archive]'."
        ) from None
    write_crate(out, suite)


results.register(app)


def main() -> None:
    """Run the command line; a user's mistake becomes one message and exit code 2."""
    try:
        app()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
